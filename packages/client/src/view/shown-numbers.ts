/** US dollars; smaller amounts have more digits. */
export function shownCost(dollars: number): string {
  if (dollars === 0) return "$0";
  return dollars < 0.01 ? "< $0.01" : `$${dollars.toFixed(2)}`;
}

/** `share` is 0 to 1: 12% in English, 12 % in German. */
export function shownPercent(share: number, language: string): string {
  return new Intl.NumberFormat(language, { style: "percent" }).format(share);
}

/** 950, 12k, 1.2M. */
export function shownCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 1_000_000) return `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** 950 B, 12 KB, 1.2 MB. */
export function shownSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const [unit, size] =
    bytes < 1_000_000 ? ["KB", bytes / 1_000] : bytes < 1e9 ? ["MB", bytes / 1e6] : ["GB", bytes / 1e9];
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`;
}

/** 0.4 s, 12 s, 3 min 5 s, 2 h 10 min. */
export function shownDuration(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The last name of a path. */
export function baseName(path: string): string {
  return path.replace(/\/+$/, "").split("/").at(-1) || path;
}

/** The path relative to a folder if it is inside, else unchanged. */
export function pathWithin(path: string, folder: string | null): string {
  return folder !== null && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}
