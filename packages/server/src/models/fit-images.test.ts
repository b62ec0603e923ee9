import { describe, expect, test } from "vitest";
import { fitImages, type ImageLimits } from "./fit-images.ts";
import { readImageSize, readInlineImage } from "./inline-image.ts";
import type { ModelMessage } from "./model.ts";

const limits: ImageLimits = {
  isSeen: true,
  count: 10,
  bytes: 100_000,
  pixels: 8000,
  pixelsOfMany: 2000,
  takesAddresses: false,
};

function png(width: number, height: number, bytes = 64): string {
  const head = Buffer.alloc(bytes);
  head.write("\x89PNG\r\n\x1a\n", "latin1");
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return `data:image/png;base64,${head.toString("base64")}`;
}

function history(urls: readonly string[]): ModelMessage[] {
  return urls.map((url) => ({ role: "user", content: [{ type: "image", image_urls: [url] }] }));
}

/** Texts, and "image" for what stays one. */
function fitted(urls: readonly string[], more: Partial<ImageLimits> = {}): string[] {
  return fitImages(history(urls), { ...limits, ...more }).flatMap(({ content }) =>
    content.map((part) => ("text" in part ? part.text : "image")),
  );
}

describe("images", () => {
  test("what fits stays, and a history without images is returned as it is", () => {
    expect(fitted([png(10, 10)])).toEqual(["image"]);
    const plain: ModelMessage[] = [{ role: "user", content: [{ type: "text", text: "a" }] }];
    expect(fitImages(plain, limits)).toBe(plain);
  });

  test.each([
    ["too many bytes", png(1, 1, 120_000), "0.11 MB"],
    ["too many pixels", png(9000, 20), "9000 x 20 pixels"],
    ["a type that nobody takes", "data:image/tiff;base64,AAAA", "image/tiff"],
    ["data of no image", "data:image/png;base64,PCFkb2N0eXBlIGh0bWw+", "no known image"],
    ["an address that holds text", "data:image/png,hello", "no image that can be read"],
    ["an address where none is taken", "https://example.com/a.png", "takes no addresses"],
  ])("a sentence stands for %s", (_, url, words) => {
    expect(fitted([url])[0]).toContain(words);
  });

  test("an image is sent with the type that its data has", () => {
    const [declared, data] = ["data:image/jpeg;base64,", png(1, 1).split(",")[1]!];
    const [message] = fitImages(history([`${declared}${data}`]), limits);
    expect(message!.content).toMatchObject([{ image_urls: [`data:image/png;base64,${data}`] }]);
  });

  test("a model without sight gets a sentence for each image", () => {
    expect(fitted([png(1, 1), png(1, 1)], { isSeen: false })).toEqual([
      "[An image is here; this model cannot see images.]",
      "[An image is here; this model cannot see images.]",
    ]);
  });

  test("of too many the oldest go, several at a time, so that the beginning seldom changes", () => {
    const at = (count: number): number =>
      fitted(Array.from({ length: count }, () => png(1, 1))).filter((text) => text !== "image").length;
    expect([10, 11, 12, 13, 14, 15].map(at)).toEqual([0, 2, 2, 4, 4, 6]);
  });

  test("many images may have fewer pixels each", () => {
    const urls = Array.from({ length: 25 }, () => png(3000, 10));
    expect(fitted(urls, { count: 100 }).every((text) => text.includes("at most 2000"))).toBe(true);
    expect(fitted(urls.slice(0, 20), { count: 100 }).every((text) => text === "image")).toBe(true);
  });

  test("sizes are read from every usual type", () => {
    const gif = Buffer.alloc(12);
    gif.writeUInt16LE(30, 6);
    gif.writeUInt16LE(40, 8);
    const jpeg = Buffer.from([
      0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 17, 8, 0, 50, 0, 60, 3, 0, 0, 0, 0,
    ]);
    const webp = Buffer.alloc(30);
    webp.write("VP8X", 12, "latin1");
    webp.writeUIntLE(69, 24, 3);
    webp.writeUIntLE(79, 27, 3);
    const sizeOf = (type: string, bytes: Buffer): unknown =>
      readImageSize(readInlineImage(`data:image/${type};base64,${bytes.toString("base64")}`)!);
    expect(sizeOf("gif", gif)).toEqual({ width: 30, height: 40 });
    expect(sizeOf("jpg", jpeg)).toEqual({ width: 60, height: 50 });
    expect(sizeOf("webp", webp)).toEqual({ width: 70, height: 80 });
    expect(sizeOf("png", Buffer.alloc(3))).toBeNull();
  });
});
