// What the page shows. Texts of a model enter it through `textContent` only; the report has a frame without rights.

/** @param {string} id
 * @returns {any} */
const byId = (id) => document.getElementById(id);

const SECTIONS = ["start", "work", "choice", "failure", "result"];

/** How long a message stays, in milliseconds. */
const MESSAGE_TIME = 6000;

/** @type {Record<string, string>} */
const PHASES = {
  python: "Starting Python",
  read: "Reading the file",
  infer: "Inferring shapes",
  check: "Checking the model",
  memory: "Computing memory and cost",
  report: "Writing the report",
  save: "Writing the annotated model",
};

/** Show one section; its heading gets the focus, for keyboards and screen readers.
 * @param {string} name */
function showSection(name) {
  for (const section of SECTIONS) byId(section).hidden = section !== name;
  document.body.dataset.state = name;
  byId("actions").hidden = name !== "result";
  byId("model").hidden = name === "start";
  if (name !== "result") sendToReport({ kind: "show", html: "", title: "Report" });
  const heading = byId(`${name}-title`);
  if (heading) heading.focus();
}

/** @param {number} done
 * @param {number} total */
function showLoading(done, total) {
  byId("load-bar").value = done / total;
  byId("load-text").textContent = `Loading Python: ${megabytes(done)} of ${megabytes(total)} MB`;
}

/** @param {number} bytes */
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

/** @param {string} text
 * @param {boolean} ready */
function showReadiness(text, ready) {
  byId("load-bar").hidden = ready;
  byId("load-text").textContent = text;
}

/** @param {string} phase
 * @param {number} done
 * @param {number} total 0 where it is not known */
function showProgress(phase, done, total) {
  const bar = byId("work-bar");
  if (total) {
    bar.max = total;
    bar.value = done;
  } else bar.removeAttribute("value");
  const counts = total ? `: ${done.toLocaleString("en")} of ${total.toLocaleString("en")} nodes` : "";
  byId("work-text").textContent = PHASES[phase] + counts;
}

/** @param {string} name */
function showWork(name) {
  byId("model").textContent = name;
  byId("work-title").textContent = `Opening ${name}`;
  showProgress("read", 0, 0);
  showSection("work");
  byId("cancel").focus();
}

/** @param {string[]} models their paths
 * @param {(path: string) => void} choose */
function showChoice(models, choose) {
  byId("choice-text").textContent = `${models.length.toLocaleString("en")} models are in these files.`;
  const items = models.map((path) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = path;
    button.addEventListener("click", () => choose(path));
    const item = document.createElement("li");
    item.append(button);
    return item;
  });
  byId("choice-list").replaceChildren(...items);
  showSection("choice");
}

/** @param {string} title
 * @param {string} text */
function showFailure(title, text) {
  byId("failure-title").textContent = title;
  byId("failure-text").textContent = text;
  showSection("failure");
}

/** Send a message to the frame of the report, which has no origin that it could be addressed by.
 * @param {any} message */
function sendToReport(message) {
  byId("frame").contentWindow?.postMessage(message, "*");
}

/** Show a report in a frame that may run its own script, but has no origin, no storage, and no access to this page.
 * @param {string} html
 * @param {any} summary */
function showReport(html, summary) {
  byId("model").textContent = summary.title;
  showMissing(summary.missing);
  const save = byId("save-copy");
  save.disabled = summary.copy === null;
  save.title = summary.copy === null ? "Models of this format can be read, but not written" : summary.copy;
  showSection("result");
  sendToReport({ kind: "show", html, title: `Report of ${summary.title}` });
}

/** The packages that Python lacks here, and what they would add.
 * @param {Record<string, string>} packages */
function showMissing(packages) {
  const [heading, list] = byId("missing").children;
  heading.textContent = `Not in this page: ${Object.keys(packages).join(", ")}`;
  const items = Object.entries(packages).map(([name, text]) => {
    const item = document.createElement("li");
    item.textContent = `${name} ${text}`;
    return item;
  });
  list.replaceChildren(...items);
  byId("missing").hidden = !items.length;
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let messageTimer;

/** @param {string} text */
function showMessage(text) {
  byId("message").textContent = text;
  byId("message").hidden = false;
  clearTimeout(messageTimer);
  messageTimer = setTimeout(() => (byId("message").hidden = true), MESSAGE_TIME);
}

/** Offer a file for saving.
 * @param {Blob} content
 * @param {string} name */
function download(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
