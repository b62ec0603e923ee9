import { mkdir, open, readFile, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { onceUnlessRejected } from "@convoke/protocol/once-unless-rejected";
import type { BrowserContext, Page } from "playwright-core";
import { findRecorderFile } from "./recorder-file.ts";

export type RecordingResult = { readonly path: string; readonly eventCount: number };

/** Maximum size of a recording in bytes; the rest is left out. */
const maxBytes = 200_000_000;

/**
 * Records the tabs of a conversation with rrweb: a JSON array of events in a file that is complete after every write. Inputs are
 * recorded masked. Recording continues across navigations, and never makes another action fail.
 */
export class Recorder {
  readonly #directory: string;
  /** Hides secrets of the conversation in what is written. */
  readonly #mask: (text: string) => string;
  #isPrepared = false;
  #recording: Recording | undefined;

  constructor(directory: string, mask: (text: string) => string) {
    this.#directory = directory;
    this.#mask = mask;
  }

  get isOn(): boolean {
    return this.#recording !== undefined;
  }

  async start(context: BrowserContext, pages: readonly Page[]): Promise<string> {
    this.#recording = await Recording.open(this.#directory);
    if (!this.#isPrepared) {
      await context.exposeBinding(binding, (_source, json: string | null) => {
        if (json !== null) this.#recording?.add(this.#mask(json));
        return this.#recording !== undefined;
      });
      await context.addInitScript({ content: await recorderScript() });
      this.#isPrepared = true;
    }
    const script = await recorderScript();
    // A navigating page starts with its next document.
    await Promise.all(pages.map((page) => page.evaluate(script).catch(() => {})));
    return this.#recording.path;
  }

  async stop(pages: readonly Page[]): Promise<RecordingResult> {
    const recording = this.#recording;
    if (recording === undefined) throw new Error("No recording is running.");
    const end = (): void =>
      (window as unknown as { [name: string]: (() => void) | undefined })["__convokeStopRecording"]?.();
    await Promise.all(pages.map((page) => page.evaluate(end).catch(() => {})));
    this.#recording = undefined;
    return await recording.close();
  }

  /** The context is replaced or closed: its pages are gone, the file is complete. */
  async forget(): Promise<void> {
    this.#isPrepared = false;
    const recording = this.#recording;
    this.#recording = undefined;
    await recording?.close();
  }
}

const binding = "__convokeRecord";

/** Appends events to a JSON array that is complete between any two writes. */
class Recording {
  readonly path: string;
  readonly #file: FileHandle;
  #eventCount = 0;
  #bytes = 2;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  static async open(directory: string): Promise<Recording> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const stamp = new Date().toISOString().replaceAll(/[:.]/g, "-");
    const path = join(directory, `recording-${stamp}.json`);
    const file = await open(path, "wx", 0o600);
    await file.write("[]", 0);
    return new Recording(path, file);
  }

  /** `json` is a list of events. */
  add(json: string): void {
    const inner = json.trim().slice(1, -1);
    if (inner === "" || this.#bytes + inner.length > maxBytes) return;
    const count = (JSON.parse(json) as unknown[]).length;
    const text = `${this.#eventCount > 0 ? ",\n" : ""}${inner}]`;
    const at = this.#bytes - 1;
    this.#eventCount += count;
    this.#bytes += Buffer.byteLength(text) - 1;
    // A full disk ends the recording, not the action.
    this.#writing = this.#writing.then(async () => void (await this.#file.write(text, at))).catch(() => {});
  }

  async close(): Promise<RecordingResult> {
    await this.#writing;
    await this.#file.close();
    return { path: this.path, eventCount: this.#eventCount };
  }
}

const recorderScript = onceUnlessRejected(makeScript);

async function makeScript(): Promise<string> {
  const source = await readFile(findRecorderFile(), "utf8");
  return `(() => {
  if (window !== window.top || window.__convokeStopRecording || !window.${binding}) return;
  window.__convokeStopRecording = () => {};
  window.${binding}(null).then((isOn) => {
    if (!isOn) { delete window.__convokeStopRecording; return; }
    const place = {};
    (function (define, exports, module) { ${source}
    }).call(place);
    let events = [];
    const flush = () => { const batch = events; events = []; if (batch.length > 0) window.${binding}(JSON.stringify(batch)); };
    const stop = place.rrwebRecord.record({
      maskAllInputs: true,
      emit: (event) => { if (events.push(event) === 1) queueMicrotask(flush); },
    });
    window.__convokeStopRecording = () => { stop(); flush(); delete window.__convokeStopRecording; };
  });
})()`;
}
