import { connect } from "node:net";
import { findBinary } from "./find-binary.ts";
import { type ServiceProcess, serviceProcess } from "./service-process.ts";

export type StackRedis = {
	url: string;
	/** Undefined if the stack did not start the server. */
	process?: ServiceProcess;
	stop: () => Promise<void>;
};

/** Starts a new Redis without persistence, since it counts requests, and a count matters for seconds only. */
export async function startRedis({
	logFile,
	port,
	password,
	onUnexpectedExit,
}: {
	logFile: string;
	port: number;
	/** Undefined if clients need no password. */
	password?: string;
	onUnexpectedExit?: ((message: string) => void) | undefined;
}): Promise<StackRedis> {
	const command = findBinary("redis-server");
	if (!command) {
		throw new Error(
			"Redis is not installed: `apt install redis-server`, `brew install redis`, or set REDIS_URL to a server that runs",
		);
	}
	const server = serviceProcess({
		name: "redis",
		command,
		args: [
			...["--bind", "127.0.0.1", "--port", String(port), "--save", "", "--appendonly", "no"],
			...(password === undefined ? [] : ["--requirepass", password]),
		],
		env: { PATH: process.env.PATH },
		logFile,
		isReady: () => answersPing(port),
		onUnexpectedExit,
	});
	await server.start();
	const login = password === undefined ? "" : `:${password}@`;
	return { url: `redis://${login}127.0.0.1:${port}`, process: server, stop: server.stop };
}

function answersPing(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
		socket.once("error", () => resolve(false));
		socket.once("data", (chunk) => {
			socket.destroy();
			resolve(/^(\+PONG|-NOAUTH)/.test(chunk.toString()));
		});
	});
}
