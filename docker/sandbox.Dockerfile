# Image for docker and podman sandboxes: `npm run build`, then `docker build -f docker/sandbox.Dockerfile -t convoke-sandbox .`
FROM node:24-bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends bash ca-certificates chromium curl git less procps python3 ripgrep unzip \
 && rm -rf /var/lib/apt/lists/*
COPY dist/convoke /opt/convoke/program
# The program runs on the Node of this image, and not on the one that npm installs for it.
RUN cd /opt/convoke/program && npm pkg delete optionalDependencies && npm install --omit=dev --no-audit --no-fund \
 && printf '#!/bin/sh\nexec node --disable-sigusr1 /opt/convoke/program/lib/bin.js "$@"\n' > /usr/local/bin/convoke \
 && chmod 755 /usr/local/bin/convoke \
 && mkdir -p /workspace /home/agent /run/convoke /var/lib/convoke
# A server in it has no bubblewrap: the container is the only wall around agents.
ENV CONVOKE_WALL=off
WORKDIR /workspace
ENTRYPOINT ["convoke"]
