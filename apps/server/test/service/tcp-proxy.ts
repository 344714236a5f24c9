import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type TcpProxy = {
	port: number;
	/** Holds back the data that clients send, or passes it on again. */
	setSilent(isSilent: boolean): void;
	/** Sets the target port of new connections. */
	lead(port: number): void;
	close(): void;
};

/** Starts a proxy between a client and a server on this machine. */
export async function startTcpProxy(toPort: number): Promise<TcpProxy> {
	let target = toPort;
	const pairs: { client: Socket; upstream: Socket }[] = [];
	const proxy = createServer((client) => {
		const upstream = connect(target, "127.0.0.1");
		client.pipe(upstream).pipe(client);
		client.on("close", () => upstream.destroy());
		// Either end may close first.
		for (const socket of [client, upstream]) socket.on("error", () => {});
		pairs.push({ client, upstream });
	}).listen(0, "127.0.0.1");
	await once(proxy, "listening");
	return {
		port: (proxy.address() as AddressInfo).port,
		setSilent(isSilent) {
			for (const { client, upstream } of pairs) {
				if (isSilent) client.unpipe();
				else client.pipe(upstream);
			}
		},
		lead(port) {
			target = port;
		},
		close() {
			for (const { client } of pairs) client.destroy();
			proxy.close();
		},
	};
}
