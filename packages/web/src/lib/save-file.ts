/** Saves a response as a file under its name. Plain links would lack the login proof. */
export async function saveFile(reply: Response, fallback: string): Promise<void> {
  const address = URL.createObjectURL(await reply.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = nameOf(reply.headers.get("content-disposition")) ?? fallback;
  link.click();
  // The browser has started to read the blob by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** The file name of the header, in the form that supports all characters. */
export function nameOf(disposition: string | null): string | null {
  const encoded = /filename\*=UTF-8''([^;]+)/.exec(disposition ?? "")?.[1];
  return encoded === undefined ? null : decodeURIComponent(encoded);
}

/** Timeout of downloads, which may be large. */
export const longTimeoutMs = 3_600_000;
