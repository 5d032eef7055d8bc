/* `@p` and `@P` stand for the prefix. */
#if !defined(@P_PORTABLE_MATH) && ((defined(__GNUC__) && __GNUC__ >= 5) || defined(__clang__))
#define @P_BUILTIN_MATH 1
#else
#define @P_BUILTIN_MATH 0
#endif

static inline int64_t @p_math_failed(int64_t failure, int64_t *status)
{
    if (*status == 0) {
        *status = failure;
    }
    return 0;
}

static inline int64_t @p_math_add(int64_t a, int64_t b, int64_t *status)
{
#if @P_BUILTIN_MATH
    int64_t result;
    if (__builtin_add_overflow(a, b, &result)) {
        return @p_math_failed(@P_OVERFLOW, status);
    }
    return result;
#else
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) {
        return @p_math_failed(@P_OVERFLOW, status);
    }
    return a + b;
#endif
}

static inline int64_t @p_math_multiply(int64_t a, int64_t b, int64_t *status)
{
#if @P_BUILTIN_MATH
    int64_t result;
    if (__builtin_mul_overflow(a, b, &result)) {
        return @p_math_failed(@P_OVERFLOW, status);
    }
    return result;
#else
    int outside;
    if (a == 0 || b == 0) {
        return 0;
    }
    if (a > 0) {
        outside = b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a;
    } else {
        outside = b > 0 ? a < INT64_MIN / b : b < INT64_MAX / a;
    }
    return outside ? @p_math_failed(@P_OVERFLOW, status) : a * b;
#endif
}

/* Rounds down, as Python's // does. */
static inline int64_t @p_math_floordiv(int64_t a, int64_t b, int64_t *status)
{
    int64_t result;
    if (b == 0) {
        return @p_math_failed(@P_UNDEFINED, status);
    }
    if (b == -1) {
        return a == INT64_MIN ? @p_math_failed(@P_OVERFLOW, status) : -a;
    }
    result = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? result - 1 : result;
}

static inline int64_t @p_math_maximum(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
