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

/** Bytes of a large read, such as a part of copied weights. */
const LARGE = 1 << 16;

/** Milliseconds between two reports of progress. */
const PAUSE = 60;

const reader = new FileReaderSync();

let python, session, answer;

/** @param {ArrayBuffer} source */
async function importModule(source) {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return await import(address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** @param {{files: Record<string, ArrayBuffer>, lock: object}} message */
async function start({ files, lock }) {
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
    lockFileContents: lock,
    createPyodideModule,
  });
  for (const name of NETWORK) Object.defineProperty(self, name, { value: undefined, writable: false, configurable: false });
  python.unpackArchive(files[PACKAGES], "zip", { extractDir: "/packages" });
  python.runPython("import sys; sys.path.insert(0, '/packages')");
  const module = python.pyimport("shapeinf.page.session");
  answer = module.answer;
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
  FS.chdir("/");
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

/** What is written to the sink, outside of Python's memory; null where nothing is saved. */
let written = null;

/** The last large read of a file while something is saved, and its bytes. */
let lastRead = null;
let readBytes = new Uint8Array(0);
let sinkDevice = 0;

/** A device that keeps what is written to it. Weights are copied as they are read: of these, the slice of the file. */
function registerSink() {
  const { FS } = python;
  FS.filesystems.WORKERFS.stream_ops.read = readSlice;
  sinkDevice = FS.makedev(70, 0);
  FS.registerDevice(sinkDevice, {
    open() {},
    close() {},
    read: () => 0,
    write(stream, buffer, offset, length) {
      const bytes = buffer.subarray(offset, offset + length);
      const { file, position } = lastRead ?? {};
      written.push(isLastRead(bytes) ? file.slice(position, position + length) : new Blob([bytes.slice()]));
      return length;
    },
  });
}

/** Read a slice of a file. A large one moves to the page afterwards, which collects it: this worker collects nothing
 * before Python returns, which may read gigabytes. */
function readSlice(stream, buffer, offset, length, position) {
  const file = stream.node.contents;
  const slice = reader.readAsArrayBuffer(file.slice(position, position + length));
  const bytes = new Uint8Array(slice);
  const count = bytes.length;
  buffer.set(bytes, offset);
  if (written && count >= LARGE) {
    if (readBytes.length < count) readBytes = new Uint8Array(count);
    readBytes.set(bytes);
    lastRead = { file, position, count };
  }
  if (count >= LARGE) self.postMessage({ kind: "read" }, [slice]);
  return count;
}

/** @param {Uint8Array} bytes */
function isLastRead(bytes) {
  if (lastRead?.count !== bytes.length) return false;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== readBytes[i]) return false;
  return true;
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

/** An error of Python, as the session describes it to the reader. */
class Failure extends Error {}

/** The value that a method of the session returns. Throws Failure.
 * @param {string} request
 * @param {unknown[]} values */
function ask(request, ...values) {
  const { value, failure } = JSON.parse(answer(session, request, JSON.stringify(values)));
  if (failure) throw Object.assign(new Failure(failure.text), failure);
  return value;
}

function open({ files }) {
  mount(files);
  self.postMessage({ kind: "models", models: ask("models") });
}

function choose({ path }) {
  ask("open", path);
  self.postMessage({ kind: "report", html: ask("report"), summary: ask("summary") });
}

function explain({ tensor, axis }) {
  self.postMessage({ kind: "explained", tensor, axis, lines: ask("explain", tensor, axis) });
}

function save() {
  const { copy: name, folder } = ask("summary");
  self.postMessage({ kind: "saved", name, content: folder ? saveToSink(folder, name) : saveToMemory(name) });
}

/** @param {string} folder
 * @param {string} name */
function saveToSink(folder, name) {
  const node = addSink(folder, name);
  written = [];
  try {
    ask("save", `${folder}/${name}`);
    return new Blob(written);
  } finally {
    written = lastRead = null;
    readBytes = new Uint8Array(0);
    python.FS.destroyNode(node);
  }
}

/** @param {string} name */
function saveToMemory(name) {
  removeTree(COPIES);
  return new Blob([python.FS.readFile(ask("save", `${COPIES}/${name}`))]);
}

const HANDLERS = { start, open, choose, explain, save };

self.addEventListener("message", async ({ data }) => {
  try {
    await HANDLERS[data.kind](data);
  } catch (error) {
    self.postMessage({ kind: "failure", during: data.kind, ...describe(error) });
  }
});

/** A failure of Python leaves it intact; after any other error this worker is of no use.
 * @param {any} error */
function describe(error) {
  if (error instanceof Failure) return { title: error.title, text: error.message, fatal: false };
  return { title: "Too large for this browser", text: `Python ended: ${error}. Use shapeinf on the command line.`, fatal: true };
}
