import {
  connectsTo,
  connectsToUnix,
  type EscapeAttempt,
  inCopy,
  onMachine,
  proxied,
  sees,
} from "./escape-attempt.ts";
import type { EscapeTargets } from "./escape-targets.ts";

/** A cloud's address for metadata, and one of nobody. */
const metadataAddress = "169.254.169.254";
const elsewhere = "192.0.2.1";

/** Numbers 48 to 52 and 59: networks and sockets. */
export function networkAttempts(targets: EscapeTargets): readonly EscapeAttempt[] {
  const { tcpPort, unixSocket, abstractSocket, otherEgress } = targets;
  const sends = (host: string, port: number): string =>
    `timeout 2 bash -c 'echo x > /dev/udp/${host}/${port}' 2>/dev/null && echo ESCAPED`;
  return [
    inCopy(48, "a service at an address, by TCP", connectsTo(elsewhere, 443)),
    inCopy(48, "a service at an address, by UDP", sends(elsewhere, 443)),
    inCopy(49, "a name server, by UDP", sends(elsewhere, 53)),
    inCopy(49, "a name server, by TCP", connectsTo(elsewhere, 53)),
    onMachine(50, "a service of the machine on loopback", connectsTo("127.0.0.1", tcpPort)),
    inCopy(50, "the same by IPv6", connectsTo("::1", tcpPort)),
    onMachine(50, "the same by any address", connectsTo("0.0.0.0", tcpPort)),
    inCopy(51, "the same through the proxy", proxied("127.0.0.1", tcpPort)),
    inCopy(51, "through the proxy as 0x7f.1", proxied("0x7f.1", tcpPort)),
    inCopy(51, "through the proxy as a mapped address", proxied("[::ffff:127.0.0.1]", tcpPort)),
    inCopy(51, "through the proxy by name", proxied("localhost.", tcpPort)),
    inCopy(51, "through the proxy by any address", proxied("0.0.0.0", tcpPort)),
    inCopy(52, "a cloud's metadata", connectsTo(metadataAddress, 80)),
    inCopy(52, "a cloud's metadata through the proxy", proxied(metadataAddress, 80)),
    onMachine(59, "a unix socket of the machine", connectsToUnix(`"${unixSocket}"`)),
    onMachine(59, "an abstract socket of the machine", connectsToUnix(`"\\0${abstractSocket}"`)),
    onMachine(59, "the way out of another wall", connectsToUnix(`"${otherEgress}"`)),
    inCopy(
      59,
      "put something in the place of the way out",
      "(touch /run/convoke-egress/x && rm /run/convoke-egress/proxy.sock) 2>/dev/null && echo ESCAPED",
    ),
    inCopy(
      59,
      "Docker's socket",
      sees("/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock"),
    ),
    inCopy(59, "the system's bus", sees("/run/dbus", "/var/run/dbus")),
  ];
}
