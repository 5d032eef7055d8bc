// The page: one worker at a time, which is ended where the reader cancels, and the messages between it and the report.

class ModelPage {
  /** @param {any} manifest */
  constructor(manifest) {
    this.manifest = manifest;
    /** @type {Record<string, ArrayBuffer> | null} */
    this.files = null;
    /** @type {Worker | null} */
    this.worker = null;
    /** @type {import("./dropped.js").OpenFile[] | null} */
    this.waiting = null;
    this.ready = false;
    this.stopped = false;
    this.html = "";
    /** @type {any} */
    this.summary = null;
    this.listen();
  }

  async load() {
    try {
      const { files, version } = this.manifest;
      this.files = await loadFiles(files, version, showLoading);
      this.startWorker();
    } catch (error) {
      const local = location.protocol === "file:" ? " Browsers load no parts of a page that is opened as a file: serve its folder, as by python -m http.server." : "";
      this.stop(`${error instanceof Error ? error.message : error}.${local}`);
    }
  }

  /** The page is of no use.
   * @param {string} reason */
  stop(reason) {
    this.worker?.terminate();
    this.waiting = null;
    this.stopped = true;
    showSection("start");
    showReadiness(`This page cannot be loaded: ${reason}`, true);
    byId("load").classList.add("failed");
  }

  /** A new worker with Python; an older one ends at once, whatever it does. */
  startWorker() {
    if (!this.files) return;
    this.worker?.terminate();
    this.ready = false;
    showReadiness("Starting Python", false);
    byId("load-bar").removeAttribute("value");
    const source = URL.createObjectURL(new Blob([this.files["worker.mjs"]], { type: "text/javascript" }));
    const worker = new Worker(source, { type: "module" });
    worker.addEventListener("message", (event) => worker === this.worker && this.receive(event.data));
    worker.addEventListener("error", (event) => worker === this.worker && this.crash(event.message));
    worker.postMessage({ kind: "start", files: this.files, lock: this.manifest.lock });
    this.worker = worker;
  }

  listen() {
    for (const id of ["choose-files", "choose-folder"]) {
      const input = byId(id);
      input.addEventListener("change", () => {
        this.open(chosenFiles(input.files));
        input.value = "";
      });
    }
    byId("folder-label").hidden = byId("choose-folder").hidden = !("webkitdirectory" in byId("choose-folder"));
    byId("cancel").addEventListener("click", () => this.cancel());
    for (const id of ["again", "choice-back", "failure-back"]) byId(id).addEventListener("click", () => this.showStart());
    byId("save-copy").addEventListener("click", () => this.saveCopy());
    byId("save-report").addEventListener("click", () => this.saveReport());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && document.body.dataset.state === "work") this.cancel();
    });
    this.listenToDrops();
    window.addEventListener("message", (event) => this.receiveFromReport(event));
  }

  listenToDrops() {
    const show = (/** @type {boolean} */ over) => document.body.classList.toggle("over", over);
    document.addEventListener("dragenter", () => show(true));
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("dragleave", (event) => event.relatedTarget || show(false));
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      show(false);
      if (!event.dataTransfer) return;
      droppedFiles(event.dataTransfer).then(
        (files) => this.open(files),
        (error) => showFailure("These files cannot be read", String(error.message ?? error)),
      );
    });
  }

  showStart() {
    showSection("start");
    byId("choose-files").focus();
  }

  /** @param {import("./dropped.js").OpenFile[]} files */
  open(files) {
    if (!files.length || this.stopped) return;
    if (document.body.dataset.state === "work") this.startWorker();
    const [name] = files[0].path.split("/");
    showWork(files.length === 1 || files[0].path.includes("/") ? name : `${files.length.toLocaleString("en")} files`);
    this.waiting = files;
    if (this.ready) this.sendFiles();
    else showProgress("python", 0, 0);
  }

  sendFiles() {
    if (!this.waiting) return;
    this.worker?.postMessage({ kind: "open", files: this.waiting });
    this.waiting = null;
  }

  cancel() {
    this.waiting = null;
    if (this.ready) this.startWorker();
    this.showStart();
  }

  /** @param {string} message */
  crash(message) {
    if (!this.ready) return this.stop(message);
    this.startWorker();
    showFailure("Too large for this browser", `Python ended${message ? `: ${message}` : ""}. Use shapeinf on the command line.`);
  }

  /** @param {any} message of the worker */
  receive(message) {
    const { kind } = message;
    if (kind === "ready") {
      this.ready = true;
      showReadiness("Ready. No request is made from now on.", true);
      document.body.dataset.ready = "true";
      this.sendFiles();
    } else if (kind === "progress") showProgress(message.phase, message.done, message.total);
    else if (kind === "models") this.chooseModel(message.models);
    else if (kind === "report") this.receiveReport(message);
    else if (kind === "explained") sendToReport({ ...message, kind: "explanation" });
    else if (kind === "saved") this.receiveCopy(message);
    else if (kind === "failure") this.fail(message);
  }

  /** @param {string[]} models their paths */
  chooseModel(models) {
    const choose = (/** @type {string} */ path) => {
      showWork(path);
      this.worker?.postMessage({ kind: "choose", path });
    };
    if (models.length === 1) choose(models[0]);
    else showChoice(models, choose);
  }

  /** @param {any} message */
  receiveReport({ html, summary }) {
    this.html = html;
    this.summary = summary;
    showReport(html, summary);
  }

  /** @param {any} message */
  fail({ title, text, fatal, during }) {
    if (during === "start") return this.stop(text);
    if (fatal) this.startWorker();
    if (fatal || (during !== "save" && during !== "explain")) return showFailure(title, text);
    if (during === "save") byId("save-copy").disabled = false;
    showMessage(`${title}: ${text}`);
  }

  /** A request of the report, which is not trusted: it can ask for an explanation of a tensor by numbers, no more.
   * @param {MessageEvent} event */
  receiveFromReport({ source, data }) {
    if (source !== byId("frame").contentWindow) return;
    if (data?.kind === "shown" && document.body.dataset.state === "result") {
      sendToReport({ kind: "explains" });
      byId("frame").focus();
    }
    if (data?.kind === "drag") document.body.classList.add("over");
    if (data?.kind !== "explain" || !Number.isInteger(data.tensor) || !Number.isInteger(data.axis)) return;
    this.worker?.postMessage({ kind: "explain", tensor: data.tensor, axis: data.axis });
  }

  saveReport() {
    const name = this.summary.title.split("/").pop();
    download(new Blob([this.html], { type: "text/html" }), `${name}.html`);
  }

  saveCopy() {
    byId("save-copy").disabled = true;
    showMessage(PHASES.save);
    this.worker?.postMessage({ kind: "save" });
  }

  /** @param {any} message */
  receiveCopy({ name, content }) {
    byId("save-copy").disabled = false;
    showMessage(`Saved ${name}`);
    download(content, name);
  }
}

const modelPage = new ModelPage(JSON.parse(byId("manifest").textContent));
modelPage.load();
