import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Log } from "./log.ts";
import { createMeter, type Meter } from "./meter.ts";

export type Metrics = { meter: Meter; url: string; stop: () => void };

/** Serves metrics to Prometheus at `GET /metrics`. */
export async function startMetrics({
	host,
	port,
	log,
}: {
	host: string;
	port: number;
	log: Log;
}): Promise<Metrics> {
	const meter = createMeter({
		onFailure: ({ name, error }) => log.warn({ reading: name, err: error }, "metrics could not be read"),
	});
	const server = createServer((request, response) => {
		// The path is not parsed as a URL, because an invalid one would throw here, where nothing catches it.
		if (request.url?.split("?")[0] !== "/metrics" || request.method !== "GET") {
			response.writeHead(404).end();
			return;
		}
		response.setHeader("content-type", "text/plain; version=0.0.4; charset=utf-8");
		response.end(meter.text());
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, host, resolve);
	});
	// The server keeps no process alive, so that one that fails to start for another reason ends.
	server.unref();
	return {
		meter,
		url: `http://${host}:${(server.address() as AddressInfo).port}/metrics`,
		stop: () => {
			server.close();
			server.closeAllConnections();
		},
	};
}
