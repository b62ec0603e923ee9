import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigError } from "../lib/config-error.ts";
import { maxLoginMs } from "../oidc/oidc-settings.ts";
import { read } from "./setting.ts";
import { settingKeys, settingOfVariable, settings } from "./settings.ts";

test("every variable that a reader names is in the table, each once", () => {
  const files = globSync(["config*.ts", "read-*.ts"], { cwd: import.meta.dirname });
  const named = files
    .filter((file) => !file.endsWith(".test.ts"))
    .map((file) => readFileSync(join(import.meta.dirname, file), "utf8"))
    .flatMap((text) => [...text.matchAll(/"((?:CONVOKE|OH|OTEL)_[A-Z_]+)"/g)].map(([, name]) => name!));
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => settingOfVariable(name) === null)).toEqual([]);
  const names = settingKeys.flatMap((key) => [settings[key].variable, ...settings[key].aliases]);
  expect(new Set(names).size).toBe(names.length);
});

test("a variable of a numbered family belongs to its setting, and names beside it do not", () => {
  expect(settingOfVariable("OH_SESSION_API_KEYS_3")).toBe("session_api_keys");
  expect(settingOfVariable("OH_WEBHOOKS_0_BASE_URL")).toBe("webhooks");
  expect(settingOfVariable("OH_WEBHOOKS_X")).toBeNull();
  expect(settingOfVariable("CONVOKE_PORT_0")).toBeNull();
});

test("a value is read by the setting's names in order, an empty one counts as not set", () => {
  expect(read({ CONVOKE_PORT: "" }, settings.port)).toBe(8000);
  expect(read({ CONVOKE_DATABASE_URL: "b" }, settings.database)).toBe("b");
  expect(read({ CONVOKE_DATABASE: "a", CONVOKE_DATABASE_URL: "b" }, settings.database)).toBe("a");
  expect(read({ OH_DEFERRED_INIT: "1" }, settings.deferred_init)).toBe(true);
  expect(read({ CONVOKE_ALLOWED_HOSTS: "a, b,," }, settings.allowed_hosts)).toEqual(["a", "b"]);
});

test.each([
  [settings.port, "80.5", "a whole number from 0 to 65535"],
  [settings.wall_cpus, "0", "a number from 0.1 up"],
  [settings.metrics, "closed", "key, open or off"],
  [settings.deferred_init, "maybe", "true or false"],
])(
  "a value of the wrong form is refused with the variable and what it must be: %#",
  (setting, text, wanted) => {
    const act = (): unknown => read<unknown>({ [setting.variable]: text }, setting);
    expect(act).toThrow(ConfigError);
    expect(act).toThrow(`${setting.variable} must be ${wanted}, not "${text}".`);
  },
);

test("a login lasts at most as long as the login store allows", () => {
  expect(settings.oidc_login_hours.type).toMatchObject({ max: maxLoginMs / 3_600_000 });
});
