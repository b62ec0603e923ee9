import { expect, test } from "vitest";
import type { BoundSecretRegistry } from "../bound-secret-registry.ts";
import type { BoundSecret } from "../egress.ts";

const secret = (name: string, value: string): BoundSecret => ({
  name,
  placeholder: `cvk_${name}_0123456789abcdefghijklmn`,
  value,
  hosts: ["api.example.com"],
  as: ["header", "basic"],
});
const valuesOf = (registry: BoundSecretRegistry, wallOf: string): string[] =>
  registry.ofWall(wallOf).map(({ value }) => value);

/** What every registry of bound secrets keeps. */
export function testBoundSecretRegistry(open: () => BoundSecretRegistry): void {
  const root = { conversationId: "root", wallOf: "root" };
  const child = { conversationId: "child", wallOf: "root" };

  test("a wall has the secrets of its conversation and of the sub-agents behind it, and of no other one", () => {
    const registry = open();
    registry.set(root, [secret("A", "value-a")]);
    registry.set(child, [secret("B", "value-b")]);
    registry.set({ conversationId: "other", wallOf: "other" }, [secret("C", "value-c")]);
    expect(valuesOf(registry, "root")).toEqual(["value-a", "value-b"]);
    expect(valuesOf(registry, "child")).toEqual([]);
  });

  test("a changed value counts at the next reading, also where a sub-agent has the old one", () => {
    const registry = open();
    registry.set(root, [secret("A", "old")]);
    registry.set(child, [secret("A", "old")]);
    registry.set(root, [secret("A", "new")]);
    expect(valuesOf(registry, "root")).toEqual(["new"]);
  });

  test("without the wall's own conversation the one that was set last counts", () => {
    const registry = open();
    registry.set({ conversationId: "first", wallOf: "root" }, [secret("A", "old")]);
    registry.set({ conversationId: "second", wallOf: "root" }, [secret("A", "new")]);
    expect(valuesOf(registry, "root")).toEqual(["new"]);
  });

  test("what is removed is gone", () => {
    const registry = open();
    registry.set(root, [secret("A", "value-a")]);
    registry.set(root, []);
    expect(registry.ofWall("root")).toEqual([]);
  });

  test("watchers of the wall learn of each change, until they end", () => {
    const registry = open();
    let changes = 0;
    const end = registry.watch("root", () => (changes += 1));
    registry.set(root, [secret("A", "value-a")]);
    registry.set(child, [secret("A", "value-a")]);
    registry.set({ conversationId: "other", wallOf: "other" }, [secret("A", "value-a")]);
    registry.set(child, []);
    // Nothing was there and nothing is.
    registry.set(child, []);
    expect(changes).toBe(3);
    end();
    registry.set(root, []);
    expect(changes).toBe(3);
  });
}
