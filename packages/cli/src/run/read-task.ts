import { readFile } from "node:fs/promises";
import { fstatSync } from "node:fs";
import type { SendMessageRequest } from "@convoke/protocol";
import { describeUnreadable } from "../describe-unreadable.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";

export type Content = NonNullable<SendMessageRequest["content"]>;

export type TaskInput = {
  /** The argument; `-` is standard input. */
  readonly task: string | undefined;
  readonly files: readonly string[];
  readonly images: readonly string[];
  /** True: standard input has values of secrets. */
  readonly hasSecretsInInput: boolean;
  /** A flag that takes several words, and may have taken the task; null without one. */
  readonly listFlag: string | null;
  readonly input: NodeJS.ReadStream & { readonly fd: number };
};

const maxBytes = 1024 * 1024;

/** The first message of a run: the task, what is piped in behind it, files as text, images. */
export async function readTask({
  task,
  files,
  images,
  hasSecretsInInput,
  listFlag,
  input,
}: TaskInput): Promise<Content> {
  const piped = await readPiped({ task, hasSecretsInInput, input });
  const isFromInput = task === undefined || task === "-";
  const text = isFromInput ? piped : task;
  if (text === null || text.trim() === "")
    throw new CommandError(
      "The task is empty. Describe what the agent should do, as an argument or on standard input." +
        (listFlag === null ? "" : ` ${listFlag} takes all words behind it: write the task before it.`),
      exitCodes.usage,
    );
  const parts = [text, ...(isFromInput || piped === null || piped === "" ? [] : [piped])];
  for (const file of files) parts.push(`File ${file}:\n${await readText(file)}`);
  return [
    ...parts.map((one) => ({ type: "text" as const, text: one })),
    ...(await Promise.all(
      images.map(async (file) => ({ type: "image" as const, image_urls: [await readImage(file)] })),
    )),
  ];
}

/** Null where nothing is piped in, or what is there is for something else. */
async function readPiped({
  task,
  hasSecretsInInput,
  input,
}: Pick<TaskInput, "task" | "hasSecretsInInput" | "input">): Promise<string | null> {
  if (task === "-" && hasSecretsInInput)
    throw new CommandError("Standard input cannot have both the task and a secret.", exitCodes.usage);
  const isAsked = task === "-" || (task === undefined && !input.isTTY);
  if (hasSecretsInInput || (!isAsked && !hasContent(input.fd))) return null;
  using _hint = hintLater();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes)
      throw new CommandError(
        "Standard input has more than 1 MB. Name a file in the task instead.",
        exitCodes.usage,
      );
    chunks.push(chunk);
  }
  return decode(Buffer.concat(chunks), "Standard input").trimEnd();
}

/** The caller may hold the other end of a pipe open. */
function hintLater(): Disposable {
  const hint =
    "Still reading standard input, which goes with the task. If nothing comes there, add: < /dev/null";
  const timer = setTimeout(() => console.error(hint), 3_000);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** A file or a pipe of a shell. Sockets are what programs leave open for programs that they start. */
function hasContent(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFile() || stat.isFIFO();
  } catch {
    // Closed.
    return false;
  }
}

async function readText(path: string): Promise<string> {
  return decode(await readBytes(path), path);
}

function decode(bytes: Buffer, name: string): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  throw new CommandError(`${name} is no text in UTF-8. Pictures go with --image.`, exitCodes.usage);
}

const imageKinds = [
  ["image/png", "89504e47"],
  ["image/jpeg", "ffd8ff"],
  ["image/gif", "47494638"],
] as const;

async function readImage(path: string): Promise<string> {
  const bytes = await readBytes(path);
  const head = bytes.subarray(0, 12).toString("hex");
  const isWebp = head.startsWith("52494646") && head.endsWith("57454250");
  const kind = isWebp ? "image/webp" : imageKinds.find(([, magic]) => head.startsWith(magic))?.[0];
  if (kind === undefined)
    throw new CommandError(`${path} is no picture that models see: PNG, JPEG, GIF or WebP.`, exitCodes.usage);
  return `data:${kind};base64,${bytes.toString("base64")}`;
}

/** Pictures of screens are some MB. */
const maxFileBytes = 10 * maxBytes;

async function readBytes(path: string): Promise<Buffer> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw new CommandError(describeUnreadable(path, error), exitCodes.usage);
  }
  if (bytes.byteLength <= maxFileBytes) return bytes;
  throw new CommandError(`${path} has more than 10 MB. Name it in the task instead.`, exitCodes.usage);
}
