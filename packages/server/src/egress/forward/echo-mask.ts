import { type Duplex, PassThrough, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { hiddenMark, SecretMask } from "@convoke/tool-host";
import type { BoundSecret } from "../egress.ts";
import { echoedForms } from "./echoed-forms.ts";
import { type Header, isText, valueOf, without } from "../policy/headers.ts";

/** Puts placeholders back where a host's answer has the values that were put into the request. */
export type EchoMask = {
  /** Headers of the answer, and what its body has to pass through, in this order; no streams where it may pass as it is. */
  maskAnswer(
    headers: readonly Header[],
    hasBody: boolean,
  ): {
    readonly headers: readonly Header[];
    readonly streams: readonly Duplex[];
  };
  maskHeaders(headers: readonly Header[]): Header[];
};

/** Null when nothing was put in. */
export function createEchoMask(used: Iterable<BoundSecret>): EchoMask | null {
  const secrets = [...used];
  if (secrets.length === 0) return null;
  const maskHeaders = (headers: readonly Header[]): Header[] => {
    const masks = openMasks(secrets);
    return headers.map(([name, value]) => [name, maskChunk(masks, value, true)]);
  };
  return {
    maskHeaders,
    maskAnswer: (headers, hasBody) => {
      const masked = maskHeaders(headers);
      if (!isText(valueOf(headers, "content-type") ?? "text/plain")) return { headers: masked, streams: [] };
      const decoders = decodersOf(valueOf(headers, "content-encoding") ?? "identity");
      const changed = ["content-length", "content-md5", "digest", "repr-digest"];
      // What cannot be decoded is searched as it is: some hosts name encodings that they do not use.
      const shown = decoders === null ? changed : [...changed, "content-encoding"];
      // A decoder fails where nothing comes.
      const streams = hasBody ? [...(decoders ?? []), maskStream(secrets)] : [];
      return { headers: without(masked, ...shown), streams };
    },
  };
}

type OneMask = { readonly mask: SecretMask; readonly placeholder: string };

function openMasks(secrets: readonly BoundSecret[]): OneMask[] {
  return secrets.map(({ name, value, placeholder }) => {
    // Bytes are read as Latin-1, which changes none, so a value is searched as its bytes are read.
    const written = [value, ...echoedForms(value)].flatMap((form) => [
      form,
      Buffer.from(form).toString("latin1"),
    ]);
    const forms = [...new Set(written)].map((form) => ({ name, value: form }));
    return { mask: new SecretMask(forms), placeholder };
  });
}

function maskChunk(masks: readonly OneMask[], text: string, isEnd: boolean): string {
  let now = text;
  for (const { mask, placeholder } of masks) {
    now = mask.push(now) + (isEnd ? mask.flush() : "");
    now = now.replaceAll(hiddenMark, () => placeholder);
  }
  return now;
}

/** Holds back only what begins like a value, so that a stream of events goes on. */
function maskStream(secrets: readonly BoundSecret[]): Transform {
  const masks = openMasks(secrets);
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      done(null, Buffer.from(maskChunk(masks, bytes.toString("latin1"), false), "latin1"));
    },
    flush(done) {
      done(null, Buffer.from(maskChunk(masks, "", true), "latin1"));
    },
  });
}

/** A host may compress although the request asked it not to, also more than once. Null when an encoding is not known. */
function decodersOf(encodings: string): Duplex[] | null {
  const names = encodings.split(",").map((name) => name.trim().toLowerCase());
  const decoders = names.toReversed().map(decoderOf);
  return decoders.includes(null) ? null : (decoders as Duplex[]);
}

function decoderOf(encoding: string): Duplex | null {
  switch (encoding.trim().toLowerCase()) {
    case "":
    case "identity":
      return new PassThrough();
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    case "zstd":
      return createZstdDecompress();
    default:
      return null;
  }
}
