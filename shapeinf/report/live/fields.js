// A field and a slider for each dim.

/** @typedef {{label: string, low: string, high: string | null, step: string, rest: string, stops: string[],
 *             initial: string | null, dependent: boolean}} Field */

/** The most fields for sizes that depend on data. */
const MAX_DEPENDENT = 100;

class FieldControl {
  /** @param {Field} field
   * @param {number} number
   * @param {() => void} changed */
  constructor(field, number, changed) {
    this.field = field;
    this.stops = field.stops.map(BigInt);
    /** @type {bigint | undefined} */
    this.size = field.initial === null ? undefined : BigInt(field.initial);
    this.changed = changed;
    this.build(`field-${number}`);
    this.show();
  }

  /** @param {string} id */
  build(id) {
    this.input = element("input", {
      id,
      type: "text",
      inputmode: "numeric",
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": `${id}-range ${id}-error`,
    });
    if (this.field.dependent) this.input.placeholder = "bound";
    this.input.addEventListener("input", () => this.read());
    this.error = element("p", { id: `${id}-error`, class: "error" });
    const label = element("label", { for: id }, this.field.label);
    const range = element("span", { id: `${id}-range`, class: "soft range" }, this.rangeText());
    this.node = element("div", { class: "field" }, label, this.input, range);
    if (this.stops.length > 1) this.node.append(this.buildSlider(id));
    this.node.append(this.error);
  }

  /** @param {string} id */
  buildSlider(id) {
    this.slider = element("input", {
      id: `${id}-slider`,
      type: "range",
      min: "0",
      max: String(this.stops.length - 1),
      step: "1",
      "aria-label": `${this.field.label}, slider`,
    });
    this.slider.addEventListener("input", () => {
      this.set(this.stops[Number(this.slider.value)]);
      this.changed();
    });
    return this.slider;
  }

  rangeText() {
    const { low, high, step, rest, least } = this.field;
    const first = least ?? low;
    const range = high === null ? `at least ${first}` : `${first} to ${high}`;
    const plus = rest === "0" ? "" : ` plus ${rest}`;
    const multiples = step === "1" ? "" : `, multiples of ${step}${plus}`;
    return `${range}${multiples}${least === null ? "" : `; this report covers ${low} and more`}`;
  }

  /** Set the size from code; the field shows it.
   * @param {bigint | undefined} size */
  set(size) {
    this.size = size;
    this.show();
  }

  show() {
    this.input.value = this.size === undefined ? "" : String(this.size);
    this.setError("");
    this.showSlider();
  }

  showSlider() {
    if (!this.slider || this.size === undefined) return;
    let position = 0;
    while (position + 1 < this.stops.length && this.stops[position + 1] <= this.size) position += 1;
    this.slider.value = String(position);
    this.slider.setAttribute("aria-valuetext", String(this.size));
  }

  /** Read the size that is typed. */
  read() {
    const text = this.input.value.replace(/[\s,_]/g, "");
    const empty = text === "";
    const error = empty ? (this.field.dependent ? "" : "This size is missing.") : numberError(text);
    this.size = empty || error ? undefined : BigInt(text);
    this.setError(error);
    this.showSlider();
    this.changed();
  }

  /** @param {string} text */
  setError(text) {
    setText(this.error, text);
    this.broken = text !== "";
    this.setIllegal(this.broken);
  }

  /** @param {boolean} illegal */
  setIllegal(illegal) {
    if (illegal || this.broken) this.input.setAttribute("aria-invalid", "true");
    else this.input.removeAttribute("aria-invalid");
  }
}

/** Build the controls of all fields; those of sizes that depend on data are folded away.
 * @param {Field[]} fields
 * @param {() => void} changed
 * @returns {FieldControl[]} */
function buildFields(fields, changed) {
  const controls = fields.map((field, number) => new FieldControl(field, number, changed));
  const own = controls.filter((control) => !control.field.dependent);
  const dependent = controls.filter((control) => control.field.dependent);
  byId("fields").append(...own.map((control) => control.node));
  if (!own.length) byId("fields").append(element("p", { class: "soft" }, "All sizes of the inputs are fixed."));
  if (dependent.length) {
    byId("dependent").hidden = false;
    setText(byId("dependent-count"), String(dependent.length));
    byId("dependent-fields").append(...dependent.slice(0, MAX_DEPENDENT).map((control) => control.node));
    const left = dependent.length - MAX_DEPENDENT;
    if (left > 0) byId("dependent-fields").append(element("p", { class: "soft" }, `and ${left} more, counted with their bounds`));
  }
  return controls;
}

/** List the dims of inputs that follow from the fields, with their formulas; the page fills in the numbers.
 * @param {[string, string, number][]} derived */
function buildDerived(derived) {
  const items = derived.map(([label, formula, number]) => {
    const value = element("b", { "data-amount": String(number) });
    return element("li", {}, `${label} = ${formula} = `, value);
  });
  byId("derived").append(...items);
}
