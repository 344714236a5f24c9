import { connect, createServer, type Socket } from "node:net";

/**
 * `hung` means that connections are accepted and nothing passes; `slowMs`, that each answer arrives that much later.
 */
type LinkMood = "fine" | "hung" | { slowMs: number };

export type MoodyLink = {
	port: number;
	mood: LinkMood;
	/** Milliseconds after which each new connection breaks. Undefined if it lasts. */
	breaksAfterMs: number | undefined;
	/** The number of connections that broke like that. */
	broken: number;
	stop: () => Promise<void>;
};

/** Passes connections on, byte for byte, so that TLS is between the two ends. Bytes that come while it hangs are lost. */
export async function startMoodyLink({ port, to }: { port: number; to: number }): Promise<MoodyLink> {
	const sockets = new Set<Socket>();
	const keep = (socket: Socket): Socket => {
		sockets.add(socket);
		socket.on("close", () => sockets.delete(socket));
		socket.on("error", () => socket.destroy());
		return socket;
	};
	const server = createServer((client) => {
		const target = connect(to, "127.0.0.1");
		const breaking =
			link.breaksAfterMs === undefined
				? undefined
				: setTimeout(() => {
						link.broken++;
						client.destroy();
					}, link.breaksAfterMs);
		keep(client).on("close", () => {
			clearTimeout(breaking);
			target.destroy();
		});
		keep(target).on("close", () => client.destroy());
		client.on("data", (bytes) => {
			if (link.mood !== "hung") target.write(bytes);
		});
		target.on("data", (bytes) => {
			if (link.mood === "hung") return;
			if (link.mood === "fine") client.write(bytes);
			else setTimeout(() => client.write(bytes), link.mood.slowMs);
		});
	});
	const link: MoodyLink = {
		port,
		mood: "fine",
		breaksAfterMs: undefined,
		broken: 0,
		stop: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				for (const socket of sockets) socket.destroy();
			}),
	};
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, "127.0.0.1", resolve);
	});
	return link;
}
