export type NginxPlace = {
  /** Directory for nginx's files. */
  readonly folder: string;
  readonly port: number;
  /** Ports of the servers behind nginx. */
  readonly servers: readonly number[];
};

/** nginx in front of several servers on this machine, as docs/guides/several-nodes.md sets it up, without TLS. */
export function nginxSettings({ folder, port, servers }: NginxPlace): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  return `
daemon off;
${process.getuid?.() === 0 ? "user root;" : ""}
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr error;
events {}
http {
  access_log off;
  ${temporary.join("\n  ")}
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  upstream convoke {
    ${servers.map((server) => `server 127.0.0.1:${server} max_fails=1 fail_timeout=5s;`).join("\n    ")}
  }
  server {
    listen 127.0.0.1:${port};
    client_max_body_size 64m;
    location / {
      proxy_pass http://convoke;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_buffering off;
      proxy_next_upstream error timeout http_502;
      proxy_connect_timeout 2s;
      proxy_read_timeout 60s;
    }
  }
}
`;
}
