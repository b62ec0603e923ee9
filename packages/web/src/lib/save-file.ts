/** Hands an answer over to the person as a file, under the name that it has. Links of the browser itself would go without the login. */
export async function saveFile(reply: Response, fallback: string): Promise<void> {
  const address = URL.createObjectURL(await reply.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = nameOf(reply.headers.get("content-disposition")) ?? fallback;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** The name that the header gives, in the form that can hold every letter. */
export function nameOf(disposition: string | null): string | null {
  const encoded = /filename\*=UTF-8''([^;]+)/.exec(disposition ?? "")?.[1];
  return encoded === undefined ? null : decodeURIComponent(encoded);
}

/** Files and whole folders may take so long to come. */
export const longTimeoutMs = 3_600_000;
