/** A part of a query: what separates it, its name, and its value with the sign before it. */
const parameter = /([?&;])([^=&;#]*)=([^&;#]*)/g;
const namedLikeSecret = /key|token|secret|pass|auth|sig|credential|code|session|jwt/i;
/** Words, versions and switches, which are no secrets. */
const plainValue = /^(?:[a-z]{1,15}|v?\d{1,4}(?:\.\d{1,4}){0,3}|)$/i;
/** Filled in later from a secret that has a name. */
const variable = /^\$\{[^}]*\}$/;

/** What stands before the host: a name, a password or both. */
const beforeHost = /^([a-z][a-z\d+.-]*:\/\/)([^/?#]*)@/i;

/** The credentials in a URL, before the host or in the query: as written, and decoded. */
export function urlSecrets(url: string): string[] {
  const [name = "", ...password] = (beforeHost.exec(url)?.[2] ?? "").split(":");
  const own = password.length > 0 ? password.join(":") : name;
  const values: string[] = own === "" ? [] : [own, decoded(own)];
  changeSecrets(url, (value) => {
    values.push(value, decoded(value));
    return value;
  });
  return [...new Set(values)];
}

/** The URL with each of these values replaced by the result of `shownAs`. */
export function hideUrlSecrets(url: string, shownAs: (secret: string) => string): string {
  const change = (value: string): string =>
    encodeURIComponent(shownAs(decoded(value))).replaceAll("%3A", ":");
  return changeSecrets(changeLogin(url, change), change);
}

/** True when the query of a URL contains exactly this value. */
export function urlHas(url: string, value: string): boolean {
  if (decoded(beforeHost.exec(url)?.[2] ?? "") === value) return true;
  return [...queryOf(url).matchAll(parameter)].some((found) => decoded(found[3]!) === value);
}

/**
 * The URL with each `mask` replaced by the value of the same name in `stored`; null when `stored` has another server or
 * lacks a value.
 */
export function restoreUrlSecrets(given: string, stored: string, mask: string): string | null {
  const before = beforeHost.exec(stored)?.[2];
  const url = changeLogin(given, (login) => (decoded(login) === mask ? (before ?? login) : login));
  if (url.split("?")[0] !== stored.split("?")[0]) return null;
  const known = new Map([...queryOf(stored).matchAll(parameter)].map((found) => [found[2]!, found[3]!]));
  let isComplete = true;
  const restored = changeQuery(url, (_whole, value, name) => {
    if (decoded(value) !== mask) return value;
    const earlier = known.get(name);
    isComplete &&= earlier !== undefined;
    return earlier ?? value;
  });
  return isComplete ? restored : null;
}

/** The URL with each value of its query replaced by the result of `open`. */
export function openUrlValues(url: string, open: (value: string) => string | null): string {
  const change = (value: string): string => {
    const opened = open(decoded(value));
    return opened === null ? value : encodeURIComponent(opened);
  };
  // Of a login the colon separates its halves.
  const login = changeLogin(url, (value) => change(value).replaceAll("%3A", ":"));
  return changeQuery(login, (_whole, value) => change(value));
}

function changeLogin(url: string, change: (login: string) => string): string {
  return url.replace(beforeHost, (_whole, scheme: string, login: string) =>
    login === "" ? scheme : `${scheme}${change(login)}@`,
  );
}

function changeSecrets(url: string, change: (value: string) => string): string {
  return changeQuery(url, (_whole, value, name) => {
    const isPlain = plainValue.test(value) && !namedLikeSecret.test(name);
    return value === "" || isPlain || variable.test(decoded(value)) ? value : change(value);
  });
}

function changeQuery(url: string, change: (whole: string, value: string, name: string) => string): string {
  const query = queryOf(url);
  if (query === "") return url;
  const changed = query.replace(
    parameter,
    (whole, sign: string, name: string, value: string) => `${sign}${name}=${change(whole, value, name)}`,
  );
  return url.slice(0, url.length - query.length) + changed;
}

/** From the question mark on, with what is behind it; empty without one. */
function queryOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll("+", " "));
  } catch {
    // The value is not percent-encoded, so it is used as is.
    return value;
  }
}
