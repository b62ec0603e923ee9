export type InlineImage = {
  readonly mediaType: string;
  readonly base64: string;
};

/** The image inside a data URL; null for any other address. */
export function readInlineImage(url: string): InlineImage | null {
  const match = /^data:([^;,]+);base64,/u.exec(url.slice(0, 200));
  if (match === null) return null;
  const type = match[1]!.toLowerCase();
  return {
    mediaType: type === "image/jpg" ? "image/jpeg" : type,
    base64: url.slice(match[0].length),
  };
}

/** The type that the data itself has, whatever was declared: providers refuse a request where they differ. Null for no image that is known. */
export function typeOfData(base64: string): string | null {
  const start = Buffer.from(base64.slice(0, 24), "base64").toString("latin1");
  if (start.startsWith("\x89PNG")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("GIF8")) return "image/gif";
  return start.startsWith("RIFF") && start.slice(8, 12) === "WEBP" ? "image/webp" : null;
}

export type ImageSize = { readonly width: number; readonly height: number };

const headerChars = 400_000;

/** Width and height in pixels from the head of a PNG, GIF, WebP or JPEG; null when it does not say. */
export function readImageSize(image: InlineImage): ImageSize | null {
  const bytes = Buffer.from(image.base64.slice(0, headerChars), "base64");
  switch (image.mediaType) {
    case "image/png":
      return bytes.length < 24 ? null : { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
    case "image/gif":
      return bytes.length < 10 ? null : { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
    case "image/webp":
      return webpSize(bytes);
    case "image/jpeg":
      return jpegSize(bytes);
    default:
      return null;
  }
}

function webpSize(bytes: Buffer): ImageSize | null {
  if (bytes.length < 30) return null;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    default:
      return null;
  }
}

/** The size stands in the first "start of frame" segment. Source: ITU-T T.81, B.2.2. */
function jpegSize(bytes: Buffer): ImageSize | null {
  let at = 2;
  while (at + 9 < bytes.length) {
    const marker = bytes[at + 1]!;
    if (bytes[at] !== 0xff) return null;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}
