/** Ports on which web servers in a sandbox are expected, by the environment variable that names them. */
export const sandboxPorts = { WORKER_1: 8011, WORKER_2: 8012 } as const;
