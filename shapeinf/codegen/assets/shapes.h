static inline int64_t @p_read(const int64_t *values, int32_t number)
{
    return number < 0 ? @P_UNKNOWN : values[number];
}

/* The registers of an axis: of its size for k = 0, and of its upper bound for k = 1. */
static inline int32_t @p_axis_value(int32_t tensor, int32_t axis, int k)
{
    const struct @p_tensor *entry = @p_tensor_at(tensor);
    return entry == NULL || axis < 0 || axis >= entry->rank ? -1 : @p_axis(2 * (entry->first + axis) + k);
}

/* The name of a tensor, its element type (empty for an unknown one) and its rank (-1 for an unknown one). */
static inline const char *@p_name(int32_t tensor)
{
    return @p_tensor_at(tensor) == NULL ? NULL : @p_tensor_at(tensor)->name;
}

static inline const char *@p_type(int32_t tensor)
{
    return @p_tensor_at(tensor) == NULL ? NULL : @p_tensor_at(tensor)->type;
}

static inline int32_t @p_rank(int32_t tensor)
{
    return @p_tensor_at(tensor) == NULL ? -1 : @p_tensor_at(tensor)->rank;
}

/* The size of an axis; @P_UNKNOWN where it depends on data. */
static inline int64_t @p_dim(const int64_t *values, int32_t tensor, int32_t axis)
{
    return @p_read(values, @p_axis_value(tensor, axis, 0));
}

/* The upper bound of the size of an axis; @P_UNKNOWN where it has none. */
static inline int64_t @p_max_dim(const int64_t *values, int32_t tensor, int32_t axis)
{
    return @p_read(values, @p_axis_value(tensor, axis, 1));
}

/* The bytes of a tensor; @P_UNKNOWN where they depend on data. */
static inline int64_t @p_bytes(const int64_t *values, int32_t tensor)
{
    return @p_read(values, @p_tensor_at(tensor) == NULL ? -1 : @p_tensor_at(tensor)->bytes);
}

/* The upper bound of the bytes of a tensor; @P_UNKNOWN where they have none. */
static inline int64_t @p_max_bytes(const int64_t *values, int32_t tensor)
{
    return @p_read(values, @p_tensor_at(tensor) == NULL ? -1 : @p_tensor_at(tensor)->max_bytes);
}

/* The most bytes of computed values in use at one program point. */
static inline int64_t @p_peak(const int64_t *values)
{
    return values[@P_PEAK];
}
