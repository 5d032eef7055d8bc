// The worker: Python, with the files of the reader as a file system that reads slices of them.

const MODEL = "/model";
const UNPACKED = "/unpacked";
const COPIES = "/copies";

/** The packages of the page, in their archive. */
const PACKAGES = "packages.zip";

/** The files that Pyodide fetches while it starts, from memory. */
const SERVED = { "pyodide.asm.wasm": "application/wasm", "python_stdlib.zip": "application/zip" };

/** The ways out of a worker: none is left once Python runs. */
const NETWORK = ["fetch", "XMLHttpRequest", "WebSocket", "WebSocketStream", "EventSource", "WebTransport", "Worker", "importScripts"];

/** Milliseconds between two reports of progress. */
const PAUSE = 60;

/** No package is installed by name. */
const LOCK = { info: { arch: "wasm32", platform: "", version: "", python: "" }, packages: {} };

let python, session, describe;

/** @param {ArrayBuffer} source */
async function importModule(source) {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return await import(address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** @param {Record<string, ArrayBuffer>} files */
async function start({ files }) {
  self.fetch = async (address) => {
    const name = String(address).split("/").pop();
    if (!(name in SERVED)) throw new TypeError(`${name} is not part of this page, which uses no network`);
    return new Response(files[name], { headers: { "Content-Type": SERVED[name] } });
  };
  const { loadPyodide } = await importModule(files["pyodide.mjs"]);
  const { default: createPyodideModule } = await importModule(files["pyodide.asm.mjs"]);
  python = await loadPyodide({
    indexURL: `${self.location.origin}/`,
    packageBaseUrl: `${self.location.origin}/`,
    lockFileContents: LOCK,
    createPyodideModule,
  });
  for (const name of NETWORK) Object.defineProperty(self, name, { value: undefined, writable: false, configurable: false });
  python.unpackArchive(files[PACKAGES], "zip", { extractDir: "/packages" });
  python.runPython("import sys; sys.path.insert(0, '/packages')");
  const module = python.pyimport("shapeinf.page.session");
  describe = module.describe_error_of_last;
  session = module.PageSession(MODEL, UNPACKED, listener());
  for (const folder of [MODEL, UNPACKED, COPIES]) python.FS.mkdirTree(folder);
  registerSink();
  self.postMessage({ kind: "ready" });
}

/** Reports progress, at most every `PAUSE` milliseconds within a phase. */
function listener() {
  let last = 0;
  let current = "";
  return (phase, done, total) => {
    const now = performance.now();
    if (phase === current && now - last < PAUSE) return;
    last = now;
    current = phase;
    self.postMessage({ kind: "progress", phase, done, total });
  };
}

// -- files -----------------------------------------------------------------------------------------------------------

/** Show files as a folder that can only be read; they are read by slices, when Python reads them.
 * @param {{path: string, file: File}[]} files */
function mount(files) {
  const { FS } = python;
  if (FS.lookupPath(MODEL).node.mount.mountpoint === MODEL) FS.unmount(MODEL);
  removeTree(UNPACKED);
  const blobs = files.map(({ path, file }) => ({ name: path, data: file }));
  const folder = FS.mount(FS.filesystems.WORKERFS, { blobs }, MODEL);
  const protect = (node) => {
    if (!FS.isDir(node.mode)) return;
    node.mode = 0o40555;
    Object.values(node.contents).forEach(protect);
  };
  protect(folder);
}

/** Empty a folder.
 * @param {string} folder */
function removeTree(folder) {
  const { FS } = python;
  for (const name of FS.readdir(folder)) {
    if (name === "." || name === "..") continue;
    const path = `${folder}/${name}`;
    if (FS.isDir(FS.lstat(path).mode)) {
      removeTree(path);
      FS.rmdir(path);
    } else FS.unlink(path);
  }
}

/** What is written to the sink; the browser may keep it on its disk. */
let written = [];
let sinkDevice = 0;

/** A device that keeps what is written to it outside of Python's memory. */
function registerSink() {
  const { FS } = python;
  sinkDevice = FS.makedev(70, 0);
  FS.registerDevice(sinkDevice, {
    open() {},
    close() {},
    read: () => 0,
    write(stream, buffer, offset, length) {
      written.push(new Blob([buffer.slice(offset, offset + length)]));
      return length;
    },
  });
}

/** Put the sink into a folder, also of a file system that cannot be written: weights are referred to from there.
 * @param {string} folder
 * @param {string} name */
function addSink(folder, name) {
  const { FS } = python;
  const node = FS.createNode(FS.lookupPath(folder).node, name, 0o20666, sinkDevice);
  const zero = new Date(0);
  node.node_ops = {
    getattr: () => ({
      ...{ dev: 1, ino: node.id, mode: node.mode, nlink: 1, uid: 0, gid: 0, rdev: sinkDevice, size: 0 },
      ...{ atime: zero, mtime: zero, ctime: zero, blksize: 4096, blocks: 0 },
    }),
    setattr() {},
  };
  node.stream_ops = FS.chrdev_stream_ops;
  return node;
}

// -- messages --------------------------------------------------------------------------------------------------------

function open({ files }) {
  mount(files);
  self.postMessage({ kind: "models", models: JSON.parse(session.models()) });
}

function choose({ path }) {
  session.open(path);
  const html = session.report();
  self.postMessage({ kind: "report", html, summary: JSON.parse(session.summary()) });
}

function explain({ tensor, axis }) {
  const lines = session.explain(tensor, axis);
  self.postMessage({ kind: "explained", tensor, axis, lines: lines.toJs() });
  lines.destroy();
}

function save() {
  const { FS } = python;
  const name = session.copy_name;
  const folder = session.copy_folder;
  written = [];
  if (folder) {
    const node = addSink(folder, name);
    try {
      session.save(`${folder}/${name}`);
    } finally {
      FS.destroyNode(node);
    }
  } else {
    removeTree(COPIES);
    written.push(new Blob([FS.readFile(session.save(`${COPIES}/${name}`))]));
  }
  self.postMessage({ kind: "saved", name, content: new Blob(written) });
  written = [];
}

const HANDLERS = { start, open, choose, explain, save };

self.addEventListener("message", async ({ data }) => {
  try {
    await HANDLERS[data.kind](data);
  } catch (error) {
    self.postMessage({ kind: "failure", during: data.kind, ...failure(error) });
  }
});

/** An error of Python as the session describes it; any other ends this worker.
 * @param {any} error */
function failure(error) {
  if (error?.name === "PythonError") return { ...JSON.parse(describe()), fatal: error.type === "MemoryError" };
  return { title: "Too large for this browser", text: `Python ended: ${error}. Use shapeinf on the command line.`, fatal: true };
}
