import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { pipeline } from "node:stream";

/** Number of executions, by the text of the SQL statement. */
export type QueryCounts = Record<string, number>;

export type QueryCounter = {
	/** The database's URL, with the counter's host and port. */
	url: string;
	counts: () => QueryCounts;
	stop: () => Promise<void>;
};

/**
 * Starts a proxy in front of a PostgreSQL server. It forwards all bytes unchanged and counts the statements that clients
 * execute. It reads the protocol in plain text, so clients must not use TLS.
 */
export async function startQueryCounter(databaseUrl: string): Promise<QueryCounter> {
	const target = new URL(databaseUrl);
	const counts: QueryCounts = {};
	const sockets = new Set<Socket>();
	const server = createServer((client) => {
		const upstream = connect({ host: target.hostname, port: Number(target.port || 5432) });
		for (const socket of [client, upstream]) {
			sockets.add(socket);
			socket.once("close", () => sockets.delete(socket));
		}
		client.on(
			"data",
			statementReader((sql) => (counts[sql] = (counts[sql] ?? 0) + 1)),
		);
		pipeline(client, upstream, () => {});
		pipeline(upstream, client, () => {});
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const url = new URL(databaseUrl);
	url.hostname = "127.0.0.1";
	url.port = String((server.address() as AddressInfo).port);
	return {
		url: url.href,
		counts: () => ({ ...counts }),
		stop: async () => {
			server.close();
			for (const socket of sockets) socket.destroy();
			await once(server, "close");
		},
	};
}

/**
 * Returns a function that reads the bytes of one client, and calls `onStatement` for each execution. A simple query
 * ("Q") contains the statement. A parse ("P") gives a statement a name, and a bind ("B") executes it by that name.
 */
function statementReader(onStatement: (sql: string) => void): (chunk: Buffer) => void {
	const parsed = new Map<string, string>();
	let rest: Buffer = Buffer.alloc(0);
	// Each message begins with a byte for its type, except the first, the startup message.
	let typeBytes = 0;
	return (chunk) => {
		rest = Buffer.concat([rest, chunk]);
		while (rest.length >= typeBytes + 4 && rest.length >= typeBytes + rest.readUInt32BE(typeBytes)) {
			const end = typeBytes + rest.readUInt32BE(typeBytes);
			const type = rest.toString("latin1", 0, typeBytes);
			const [first = "", second = ""] = rest.toString("utf8", typeBytes + 4, end).split("\0", 2);
			if (type === "Q") onStatement(first);
			else if (type === "P") parsed.set(first, second);
			// A name that was never parsed is counted as it is, since the server returns an error for it.
			else if (type === "B") onStatement(parsed.get(second) ?? second);
			rest = rest.subarray(end);
			typeBytes = 1;
		}
	};
}
