import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { pipeline } from "node:stream";

/** Number of executions of each SQL statement. */
export type QueryCounts = Record<string, number>;

export type QueryCounter = {
	/** The database's URL through the counter. */
	url: string;
	counts: () => QueryCounts;
	stop: () => Promise<void>;
};

/**
 * Forwards PostgreSQL's protocol to a server, byte by byte as it comes, and counts the statements that clients send.
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
 * Reads the messages of one client: a simple query ("Q") has the statement, a bind ("B") names one that was parsed
 * ("P").
 */
function statementReader(onStatement: (sql: string) => void): (chunk: Buffer) => void {
	const parsed = new Map<string, string>();
	let rest: Buffer = Buffer.alloc(0);
	// The startup message, which comes first, has no type.
	let typeBytes = 0;
	return (chunk) => {
		rest = Buffer.concat([rest, chunk]);
		while (rest.length >= typeBytes + 4 && rest.length >= typeBytes + rest.readUInt32BE(typeBytes)) {
			const end = typeBytes + rest.readUInt32BE(typeBytes);
			const type = rest.toString("latin1", 0, typeBytes);
			const [first = "", second = ""] = rest.toString("utf8", typeBytes + 4, end).split("\0", 2);
			if (type === "Q") onStatement(first);
			else if (type === "P") parsed.set(first, second);
			else if (type === "B") onStatement(parsed.get(second) ?? second);
			rest = rest.subarray(end);
			typeBytes = 1;
		}
	};
}
