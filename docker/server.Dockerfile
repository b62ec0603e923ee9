# Image of a server, and with a browser for its agents. After `npm run build`:
#   docker build -f docker/server.Dockerfile --target server -t convoke:0.1.0 .
#   docker build -f docker/server.Dockerfile --target with-browser -t convoke:0.1.0-browser .
FROM node:24-bookworm-slim AS server
RUN apt-get update \
 && apt-get install -y --no-install-recommends bash bubblewrap ca-certificates git less procps \
 && rm -rf /var/lib/apt/lists/*
COPY dist/convoke /opt/convoke/program
# The program runs on the Node of this image, and not on the one that npm installs for it.
RUN cd /opt/convoke/program && npm pkg delete optionalDependencies && npm install --omit=dev --no-audit --no-fund \
 && printf '#!/bin/sh\nexec node --disable-sigusr1 /opt/convoke/program/lib/bin.js "$@"\n' > /usr/local/bin/convoke \
 && chmod 755 /usr/local/bin/convoke \
 && mkdir -p /data /workspaces /home/convoke \
 && chown 10001:10001 /data /workspaces /home/convoke && chmod 700 /data
# Most containers allow no namespaces: then the container is the only wall around agents (docs/guides/containers.md).
ENV HOME=/home/convoke CONVOKE_WALL=off CONVOKE_HOST=0.0.0.0 CONVOKE_DATA_DIR=/data/server CONVOKE_WORKSPACE_ROOT=/data/workspaces
USER 10001:10001
WORKDIR /home/convoke
VOLUME ["/data"]
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["convoke", "health"]
ENTRYPOINT ["convoke"]
CMD ["serve"]

FROM server AS with-browser
USER 0:0
RUN apt-get update \
 && apt-get install -y --no-install-recommends chromium fonts-liberation \
 && rm -rf /var/lib/apt/lists/*
USER 10001:10001
