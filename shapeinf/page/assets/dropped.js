// What is dropped or chosen, as files with their paths. Their contents are not read here.

/** @typedef {{path: string, file: File}} OpenFile */

/** The most files of a folder. */
const MAX_FILES = 20000;

/** The files of an `<input type="file">`.
 * @param {FileList} list
 * @returns {OpenFile[]} */
function chosenFiles(list) {
  return Array.from(list, (file) => ({ path: safePath(file.webkitRelativePath || file.name), file }));
}

/** The files and folders of a drop. The items must be read before the event ends.
 * @param {DataTransfer} transfer
 * @returns {Promise<OpenFile[]>} */
async function droppedFiles(transfer) {
  const items = Array.from(transfer.items).filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry());
  const files = items.map((item) => item.getAsFile());
  /** @type {OpenFile[]} */
  const opened = [];
  for (const [i, entry] of entries.entries()) {
    const file = files[i];
    if (entry?.isDirectory) await addFolder(/** @type {FileSystemDirectoryEntry} */ (entry), opened);
    else if (file) opened.push({ path: safePath(file.name), file });
  }
  return opened;
}

/** @param {FileSystemDirectoryEntry} folder
 * @param {OpenFile[]} opened */
async function addFolder(folder, opened) {
  const reader = folder.createReader();
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!entries.length) return;
    for (const entry of entries) {
      if (opened.length >= MAX_FILES) throw new Error(`the folder has more than ${MAX_FILES} files`);
      if (entry.isDirectory) await addFolder(/** @type {FileSystemDirectoryEntry} */ (entry), opened);
      else opened.push(await openEntry(/** @type {FileSystemFileEntry} */ (entry)));
    }
  }
}

/** @param {FileSystemFileEntry} entry
 * @returns {Promise<OpenFile>} */
async function openEntry(entry) {
  const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
  return { path: safePath(entry.fullPath), file };
}

/** A relative path without steps upwards.
 * @param {string} path */
function safePath(path) {
  return path.split("/").filter((part) => part && part !== "." && part !== "..").join("/") || "model";
}
