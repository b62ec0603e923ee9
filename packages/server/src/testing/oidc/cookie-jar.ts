/** A browser as far as logins need one: it keeps cookies by host and path, and follows redirects when it is told to. */
export class CookieJar {
  readonly #cookies: {
    readonly host: string;
    readonly path: string;
    readonly name: string;
    value: string;
  }[] = [];

  /** One request, whose redirect is not followed. */
  async get(address: string | URL, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const url = new URL(address);
    const cookie = this.header(url);
    const sent = cookie === "" ? headers : { ...headers, cookie };
    const response = await fetch(url, { redirect: "manual", headers: sent });
    for (const line of response.headers.getSetCookie()) this.#store(url, line);
    return response;
  }

  /** Follows redirects to the first address that `isEnd` accepts, which is not fetched. */
  async follow(address: string | URL, isEnd: (url: URL) => boolean): Promise<URL> {
    let url = new URL(address);
    for (let steps = 0; steps < 20; steps += 1) {
      if (isEnd(url)) return url;
      const response = await this.get(url);
      const location = response.headers.get("location");
      if (location === null) throw new Error(`${url.pathname}: ${response.status} ${await response.text()}`);
      await response.body?.cancel();
      url = new URL(location, url);
    }
    throw new Error(`Too many redirects, now to ${url.href}`);
  }

  header(url: URL): string {
    return this.#cookies
      .filter(({ host, path }) => host === url.host && url.pathname.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
  }

  #store(url: URL, line: string): void {
    const [pair = "", ...attributes] = line.split(";").map((part) => part.trim());
    const at = pair.indexOf("=");
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    const find = (attribute: string): string | undefined =>
      attributes.find((one) => one.toLowerCase().startsWith(`${attribute}=`))?.slice(attribute.length + 1);
    const path = find("path") ?? "/";
    const index = this.#cookies.findIndex(
      (one) => one.host === url.host && one.path === path && one.name === name,
    );
    if (index >= 0) this.#cookies.splice(index, 1);
    const isOver = find("max-age") === "0" || Date.parse(find("expires") ?? "") < Date.now();
    if (!isOver) this.#cookies.push({ host: url.host, path, name, value });
  }
}
