import { createReadStream } from "node:fs";
import { open, mkdtempDisposable, writeFile, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { readTask, type TaskInput } from "./read-task.ts";

async function openFolder(): Promise<string> {
  const folder = await mkdtempDisposable(join(tmpdir(), "convoke-task-"));
  onTestFinished(() => folder.remove());
  return folder.path;
}

type Given = Partial<Omit<TaskInput, "input">>;

/** With standard input that is this file, or a socket without an end. */
async function read(given: Given, file?: string): Promise<unknown> {
  let handle: FileHandle | null = null;
  let input: unknown = Object.assign(new PassThrough(), { fd: -1 });
  if (file !== undefined) {
    handle = await open(file);
    input = Object.assign(createReadStream("", { fd: handle.fd, autoClose: false }), { fd: handle.fd });
  }
  try {
    return await readTask({
      task: undefined,
      files: [],
      images: [],
      hasSecretsInInput: false,
      listFlag: null,
      ...given,
      input: input as TaskInput["input"],
    });
  } finally {
    await handle?.close();
  }
}

const text = (...parts: string[]): unknown => parts.map((one) => ({ type: "text", text: one }));

test("the task is the argument, or standard input, or both; without any of them the command says so", async () => {
  const file = join(await openFolder(), "notes");
  await writeFile(file, "one\ntwo\n");
  expect(await read({ task: "Sum this up." })).toEqual(text("Sum this up."));
  expect(await read({ task: "-" }, file)).toEqual(text("one\ntwo"));
  expect(await read({}, file)).toEqual(text("one\ntwo"));
  expect(await read({ task: "Sum this up." }, file)).toEqual(text("Sum this up.", "one\ntwo"));
  await expect(read({ task: "  " })).rejects.toThrow("The task is empty.");
  await expect(read({ task: "", listFlag: "--unlock" })).rejects.toThrow(
    "--unlock takes all words behind it",
  );
});

test("standard input with secrets is no task, and one over the limit or of bytes is refused", async () => {
  const file = join(await openFolder(), "input");
  await writeFile(file, "secret-value");
  const hasSecretsInInput = true;
  expect(await read({ task: "Go.", hasSecretsInInput }, file)).toEqual(text("Go."));
  await expect(read({ task: "-", hasSecretsInInput }, file)).rejects.toThrow("both the task and a secret");
  await writeFile(file, "a".repeat(1024 * 1024 + 1));
  await expect(read({ task: "-" }, file)).rejects.toThrow("more than 1 MB");
  await writeFile(file, Buffer.from([0xff, 0xfe, 0x00]));
  await expect(read({ task: "-" }, file)).rejects.toThrow("Standard input is no text");
});

test("files go with the task as text, pictures as images by what they are and not by their names", async () => {
  const folder = await openFolder();
  const [notes, picture] = [join(folder, "notes.txt"), join(folder, "picture.txt")];
  await writeFile(notes, "hello");
  await writeFile(picture, Buffer.from("89504e470d0a1a0a", "hex"));
  expect(await read({ task: "Go.", files: [notes], images: [picture] })).toEqual([
    { type: "text", text: "Go." },
    { type: "text", text: `File ${notes}:\nhello` },
    { type: "image", image_urls: ["data:image/png;base64,iVBORw0KGgo="] },
  ]);
  await expect(read({ task: "Go.", images: [notes] })).rejects.toThrow("no picture that models see");
  await expect(read({ task: "Go.", files: [picture] })).rejects.toThrow("Pictures go with --image.");
  await expect(read({ task: "Go.", files: [join(folder, "gone")] })).rejects.toThrow(
    /^There is no file .*gone\.$/u,
  );
});
