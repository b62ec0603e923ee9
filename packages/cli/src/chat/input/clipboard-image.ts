import { execFile } from "node:child_process";
import type { ReadImage } from "./read-image.ts";
import { imageUrl, maxImageBytes } from "./read-image.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs a program and resolves with what it writes; null where there is no such program, an empty buffer where it fails. */
export type RunProgram = (program: string, args: readonly string[]) => Promise<Buffer | null>;

const deadlineMs = 5_000;
const pngStart = Buffer.from("89504e470d0a1a0a", "hex");

/** The picture of the desktop's clipboard. Rejects with a sentence that says what is missing. */
export async function readClipboardImage(
  { environment, platform }: { readonly environment: Environment; readonly platform: NodeJS.Platform },
  run: RunProgram = runProgram,
): Promise<ReadImage> {
  const readers = readersFor(environment, platform);
  if (readers.length === 0)
    throw new Error(
      "There is no desktop here whose clipboard could be read (WAYLAND_DISPLAY and DISPLAY are not set). Use /image PATH.",
    );
  let isThere = false;
  for (const [program, ...args] of readers) {
    const bytes = await run(program, args);
    if (bytes === null) continue;
    isThere = true;
    if (!bytes.subarray(0, pngStart.length).equals(pngStart)) continue;
    return { name: "clipboard.png", url: imageUrl("image/png", bytes) };
  }
  if (isThere) throw new Error("The clipboard has no picture.");
  const missing = readers.map(([program]) => program).join(" or ");
  throw new Error(
    `A picture of the clipboard is read by ${missing}, which is not installed. Use /image PATH.`,
  );
}

function readersFor(environment: Environment, platform: NodeJS.Platform): readonly [string, ...string[]][] {
  if (platform === "darwin") return [["pngpaste", "-"]];
  return [
    ...(environment["WAYLAND_DISPLAY"]
      ? ([["wl-paste", "--no-newline", "--type", "image/png"]] as [string, ...string[]][])
      : []),
    ...(environment["DISPLAY"]
      ? ([["xclip", "-selection", "clipboard", "-t", "image/png", "-o"]] as [string, ...string[]][])
      : []),
  ];
}

function runProgram(program: string, args: readonly string[]): Promise<Buffer | null> {
  const options = { encoding: "buffer", timeout: deadlineMs, maxBuffer: maxImageBytes } as const;
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout) => {
      if (error === null) resolve(stdout);
      else if (error.code === "ENOENT") resolve(null);
      else if ((error.code as unknown) === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER")
        reject(new Error(`The picture of the clipboard is larger than ${maxImageBytes / 1_000_000} MB.`));
      else if (error.killed === true)
        reject(new Error(`${program} gave no picture within ${deadlineMs / 1_000} s.`));
      // Without a picture in the clipboard these programs fail.
      else resolve(Buffer.alloc(0));
    });
  });
}
