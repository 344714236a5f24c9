import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const timeoutMs = 1_000;
const tries = 3;
const pauseMs = 500;

/**
 * Returns whether this address accepts connections. Tries a few times, because a restarting worker needs a moment.
 */
export async function isAlive(url: string): Promise<boolean> {
	for (let i = 0; i < tries; i++) {
		if (i > 0) await sleep(pauseMs);
		if (await takesConnections(new URL(url))) return true;
	}
	return false;
}

function takesConnections({ hostname, port, protocol }: URL): Promise<boolean> {
	return new Promise((resolve) => {
		const host = hostname.replace(/^\[(.*)\]$/, "$1");
		const socket = connect({ host, port: Number(port) || (protocol === "https:" ? 443 : 80) });
		const end = (is: boolean) => {
			socket.destroy();
			resolve(is);
		};
		socket.setTimeout(timeoutMs, () => end(false));
		socket.once("connect", () => end(true));
		socket.once("error", () => end(false));
	});
}
