/** `target` with some of its methods replaced; all others work on it as before. */
export function withMethods<Target extends object>(target: Target, methods: Partial<Target>): Target {
  return new Proxy(target, {
    get: (given, property) => {
      if (Object.hasOwn(methods, property)) return Reflect.get(methods, property) as unknown;
      const value: unknown = Reflect.get(given, property, given);
      return typeof value === "function" ? (value.bind(given) as unknown) : value;
    },
  });
}
