# syntax=docker/dockerfile:1
FROM node:24.21-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/prepare.mjs ./scripts/
RUN npm ci --include=dev
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY bin ./bin
COPY schemas ./schemas
COPY processors ./processors
COPY examples ./examples
COPY hosts ./hosts
COPY docs ./docs
COPY src ./src
COPY ui ./ui
# The image already has Node 24, so the copy in node_modules is removed. The files of a clone may be only for their owner,
# and the server is another user.
RUN npm run build && npm prune --omit=dev && rm -rf node_modules/node-linux-* && chmod -R a+rX .

FROM node:24.21-slim
# The commit of the sources.
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Weir" \
      org.opencontainers.image.description="The open, self-hosted back end for LLM applications" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="$REVISION"
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=1984 \
    DEPLOYMENT_PORT=2024 \
    OTLP_GRPC_PORT=4317 \
    DATA_DIR=/data
WORKDIR /app
COPY --from=build --chown=root:root /app/package.json ./
COPY --from=build --chown=root:root /app/node_modules ./node_modules
COPY --from=build --chown=root:root /app/dist ./dist
COPY --from=build --chown=root:root /app/bin ./bin
COPY --from=build --chown=root:root /app/scripts/launch.mjs /app/scripts/end-with-launcher.mjs ./scripts/
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 1984 2024 4317
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 1984}/ok`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "bin/weir.mjs", "serve"]
