/** Bounds the number of values of a label: after the first `max` different values all new ones become `other`. */
export function createBoundedLabel(max: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= max || value.length > 120) return "other";
    known.add(value);
    return value;
  };
}
