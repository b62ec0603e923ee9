/** Where a store on PostgreSQL is, as it was configured. */
export type PostgresPlace = {
  /** `postgres://...`. A secret: it may hold a password. */
  readonly url: string;
  /** Where notifications come from, when the first URL goes through a pooler; null: polling only. The same URL when not given. */
  readonly listenUrl?: string | null | undefined;
  /** How the other servers reach this one, without a slash at its end; null for the address that it listens on. */
  readonly nodeAddress: string | null;
};

/** The database for people, without its password: `convoke at db.example.org:5432`. */
export function describePlace({ url }: Pick<PostgresPlace, "url">): string {
  const { pathname, hostname, port, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? (hostname === "" ? "localhost" : hostname);
  return `${decodeURIComponent(pathname.slice(1))} at ${host}${host.startsWith("/") ? "" : `:${port || "5432"}`}`;
}

/** What nobody may be shown: the password, as it is and as it is written in the address. */
export function passwordsOf({ url }: Pick<PostgresPlace, "url">): string[] {
  const { password, searchParams } = new URL(url);
  const all = [searchParams.get("password") ?? "", password, decodeURIComponent(password)];
  return [...new Set(all)].filter((text) => text !== "");
}
