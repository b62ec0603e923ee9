import { expect, test } from "vitest";
import { readClipboardImage, type RunProgram } from "./clipboard-image.ts";

const png = Buffer.from("89504e470d0a1a0a00", "hex");
const read = async (
  given: Readonly<Record<string, Buffer | null>>,
  environment = {},
  platform: NodeJS.Platform = "linux",
) => {
  const asked: string[] = [];
  const run: RunProgram = async (program, args) => {
    asked.push([program, ...args].join(" "));
    return given[program] ?? null;
  };
  const outcome = await readClipboardImage({ environment, platform }, run).catch(
    (error: Error) => error.message,
  );
  return { asked, outcome };
};

const wayland = { WAYLAND_DISPLAY: "wayland-0" };
const both = { ...wayland, DISPLAY: ":0" };

test("issue 26: the program of the desktop gives the picture of the clipboard", async () => {
  const image = { name: "clipboard.png", url: `data:image/png;base64,${png.toString("base64")}` };
  expect(await read({ "wl-paste": png }, both)).toEqual({
    asked: ["wl-paste --no-newline --type image/png"],
    outcome: image,
  });
  expect((await read({ xclip: png }, both)).outcome).toEqual(image);
  expect(await read({ pngpaste: png }, {}, "darwin")).toEqual({ asked: ["pngpaste -"], outcome: image });
});

test.each([
  ["no desktop", {}, {}, "There is no desktop here"],
  ["no program", {}, both, "is read by wl-paste or xclip, which is not installed. Use /image PATH."],
  ["no picture", { "wl-paste": Buffer.from("text") }, wayland, "The clipboard has no picture."],
])("%s: the person is told what is missing", async (_, given, environment, message) => {
  expect((await read(given, environment)).outcome).toContain(message);
});
