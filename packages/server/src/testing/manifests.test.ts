import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { version } from "../lib/version.ts";

/** The parts that the tests read; reading a missing one fails. */
type Compose = {
  readonly services: Readonly<Record<string, Service>>;
};
type Service = {
  readonly image: string;
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly stop_grace_period: string;
  readonly healthcheck: { readonly test: readonly string[] };
};

type Probe = { readonly httpGet: { readonly path: string } };
type Variable = {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string } };
};
type Labels = Readonly<Record<string, string>>;
type Container = {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly Variable[];
  readonly ports: readonly { readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
};
/** The fields of all kinds' specs together. */
type Spec = {
  readonly selector: Labels & { readonly matchLabels: Labels };
  readonly serviceName: string;
  readonly maxUnavailable: number;
  readonly accessModes: readonly string[];
  readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
  readonly template: {
    readonly metadata: { readonly labels: Labels };
    readonly spec: {
      readonly terminationGracePeriodSeconds: number;
      readonly containers: readonly [Container];
    };
  };
};
type Manifest = { readonly kind: string; readonly metadata: { readonly name: string }; readonly spec: Spec };

/** Tools get two seconds to stop, sandboxes and the database more. */
const longestDrainSeconds = 30;

const folder = resolve("docker");
const read = (name: string): string => readFileSync(resolve(folder, name), "utf8");

/** An exact version; tags such as `17` or `latest` change by themselves. */
const pinned = /^[\w./-]+:\d+\.\d+(?:\.\d+)?(?:-[a-z]+)?$/;

describe("compose.yaml", () => {
  const { services }: Compose = parse(read("compose.yaml"), { merge: true });
  const servers = ["one", "two", "three"];

  test.each(servers)(
    "server %s has an address, a folder of its own, the workspaces, and no secret",
    (name) => {
      const { environment, volumes, command, stop_grace_period: grace, healthcheck } = services[name]!;
      expect(environment["CONVOKE_NODE_ADDRESS"]).toBe(`http://${name}:8000`);
      expect(volumes).toEqual([`${name}:/data`, "workspaces:/workspaces"]);
      expect(command).toBe("serve --workspace-root /workspaces");
      for (const secret of ["CONVOKE_SECRET_KEY", "SESSION_API_KEY"])
        expect(environment[secret]).toBe(`\${${secret}:?}`);
      expect(environment["CONVOKE_DATABASE"]).toContain("${DATABASE_PASSWORD:?}");
      expect(Number.parseInt(grace, 10)).toBeGreaterThan(longestDrainSeconds);
      expect(healthcheck.test.join()).toContain("/ready");
    },
  );

  test("images are pinned, this release is the one of the servers, and the proxy knows all of them", () => {
    for (const { image } of Object.values(services))
      expect(image.replace(/^\$\{CONVOKE_IMAGE:-(.*)\}$/, "$1")).toMatch(pinned);
    expect(services["one"]!.image).toContain(`:${version}}`);
    for (const name of servers) expect(read("nginx.conf")).toContain(`server ${name}:8000 `);
  });
});

describe("compose.single.yaml", () => {
  const { services }: Compose = parse(read("compose.single.yaml"));
  const { image, environment, volumes, stop_grace_period: grace } = services["convoke"]!;

  test("one server of this release has a volume, a key that is asked for, and time to end", () => {
    expect(Object.keys(services)).toEqual(["convoke"]);
    expect(image).toBe(`\${CONVOKE_IMAGE:-convoke:${version}}`);
    expect(volumes).toEqual(["data:/data"]);
    expect(environment["SESSION_API_KEY"]).toBe("${SESSION_API_KEY:?}");
    expect(Number.parseInt(grace, 10)).toBeGreaterThan(longestDrainSeconds);
  });
});

describe("kubernetes.yaml", () => {
  const documents: readonly Manifest[] = parseAllDocuments(read("kubernetes.yaml")).map((one) => one.toJS());
  const find = (kind: string): Manifest => documents.find((one) => one.kind === kind)!;
  const { spec: set } = find("StatefulSet");
  const pod = set.template.spec;
  const [container] = pod.containers;

  test("a pod gets requests while it is ready, and is restarted only when its process does not answer", () => {
    expect(container.readinessProbe.httpGet.path).toBe("/ready");
    expect(container.livenessProbe.httpGet.path).toBe("/alive");
    expect(container.startupProbe.httpGet.path).toBe("/alive");
  });

  test("a pod has time to shut down", () => {
    const pause = Number(container.lifecycle.preStop.exec.command[1]);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(pause + longestDrainSeconds);
    expect(find("PodDisruptionBudget").spec.maxUnavailable).toBe(1);
  });

  test("secrets are references, the image is pinned, and each pod is reached by its own address", () => {
    const env = Object.fromEntries(container.env.map((one) => [one.name, one]));
    for (const name of ["CONVOKE_DATABASE", "CONVOKE_SECRET_KEY", "SESSION_API_KEY"]) {
      expect(env[name]!.value).toBeUndefined();
      expect(env[name]!.valueFrom?.secretKeyRef?.name).toBe("convoke");
    }
    expect(container.image).toMatch(pinned);
    expect(container.image).toContain(`:${version}`);
    expect(env["CONVOKE_NODE_ADDRESS"]!.value).toBe(`http://$(POD_IP):${container.ports[0]!.containerPort}`);
    expect(container.env.indexOf(env["POD_IP"]!)).toBeLessThan(
      container.env.indexOf(env["CONVOKE_NODE_ADDRESS"]!),
    );
  });

  test("each pod has a folder of its own, and all have the workspaces at one path", () => {
    expect(set.volumeClaimTemplates.map((one) => one.metadata.name)).toEqual(["data"]);
    const mounts = Object.fromEntries(container.volumeMounts.map((one) => [one.mountPath, one.name]));
    expect(mounts).toEqual({ "/var/lib/convoke": "data", "/workspaces": "workspaces" });
    expect(container.args).toEqual(expect.arrayContaining(["/var/lib/convoke/data", "/workspaces"]));
    expect(find("PersistentVolumeClaim").spec.accessModes).toEqual(["ReadWriteMany"]);
  });

  test("services and the set name the same pods", () => {
    const services = documents.filter((one) => one.kind === "Service");
    for (const { spec } of services) expect(spec.selector).toEqual(set.template.metadata.labels);
    expect(services.map((one) => one.metadata.name)).toContain(set.serviceName);
    expect(set.selector.matchLabels).toEqual(set.template.metadata.labels);
  });
});
