// The files that the page needs, once: later workers get them from memory, so that the page needs no network then.

/** @typedef {{name: string, bytes: number, integrity: string}} NeededFile */

/** Fetch all files, and check that each is the one that this page was written with.
 * @param {NeededFile[]} needed
 * @param {string} version
 * @param {(done: number, total: number) => void} progress in bytes
 * @returns {Promise<Record<string, ArrayBuffer>>} by name */
async function loadFiles(needed, version, progress) {
  const total = needed.reduce((sum, file) => sum + file.bytes, 0);
  let done = 0;
  const add = (/** @type {number} */ bytes) => progress((done += bytes), total);
  const loaded = await Promise.all(needed.map((file) => loadFile(file, version, add)));
  return Object.fromEntries(needed.map((file, i) => [file.name, loaded[i]]));
}

/** @param {NeededFile} file
 * @param {string} version
 * @param {(bytes: number) => void} add
 * @returns {Promise<ArrayBuffer>} */
async function loadFile({ name, bytes, integrity }, version, add) {
  const response = await fetch(`${name}?${version}`, { integrity, credentials: "omit" });
  if (!response.ok || !response.body) throw new Error(`${name} is missing on the server (${response.status})`);
  const content = new Uint8Array(bytes);
  let end = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    content.set(value, end);
    end += value.length;
    add(value.length);
  }
  return content.buffer;
}
