import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { startModelService } from "../../sdk/test/model-service.ts";
import { account } from "../../sdk/test/op-fixture.ts";
import { startFakeService } from "./fake-service.ts";
import { initArgs, makeHome, runCli } from "./run-cli.ts";

const main = join(import.meta.dirname, "../src/main.ts");
export const wallet = account.address;
export const usdc = { origin: "31337:USDC", destination: "31338:USDC" };

/**
 * Starts a service in this process, a home that is configured for it, and functions that start `geoswap mcp`. Swaps go
 * to the model of the service, which checks signatures and remembers every order that was opened; lists come from the
 * small service of the other tests.
 */
export async function startMcpWorld(budget: object = makeBudgetFile()) {
	const model = await startModelService();
	const lists = await startFakeService();
	const front = createServer((incoming, response) => {
		const isSwap = incoming.url?.startsWith("/swap/") === true;
		forward(isSwap ? model.client.baseUrl : lists.baseUrl, incoming, response).catch(() =>
			incoming.socket.destroy(),
		);
	});
	await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
	const baseUrl = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
	const { env, home, deployment } = makeHome();
	await runCli(initArgs(baseUrl, deployment, "--rpc", `31337=${baseUrl}/rpc`), { env });
	const budgetFile = join(home, "budget.json");
	writeFileSync(budgetFile, JSON.stringify(budget), { mode: 0o600 });
	const { PATH, NODE_COMPILE_CACHE } = process.env;
	const childEnv = Object.fromEntries(
		Object.entries({ PATH, NODE_COMPILE_CACHE, ...env }).flatMap(([name, value]) =>
			value === undefined ? [] : [[name, value]],
		),
	);
	const children = new Set<ChildProcess>();
	const swapArgs = ["--allow-swaps", "--budget", budgetFile];
	return {
		model,
		lists,
		home,
		env,
		childEnv,
		budgetFile,
		/** The arguments with which a client starts the server on stdio. */
		stdioArgs: [main, "mcp", ...swapArgs],
		/** Starts the server on a separate port. */
		startHttp: async (args: readonly string[] = swapArgs): Promise<HttpServer> => {
			const child = spawn(process.execPath, [main, "mcp", ...args, "--http", "0"], {
				env: childEnv,
				stdio: ["ignore", "pipe", "ignore"],
			});
			children.add(child);
			const told: Record<string, string> = {};
			for await (const line of createInterface({ input: child.stdout })) {
				const [label = "", text = ""] = line.split(/\s+/);
				told[label] = text;
				if (label === "header") break;
			}
			const { url, token } = told;
			if (url === undefined || token === undefined) throw new Error("the server did not start");
			const end = async (signal: NodeJS.Signals) => {
				if (child.exitCode !== null || child.signalCode !== null) return;
				const ended = once(child, "exit");
				child.kill(signal);
				await ended;
				children.delete(child);
			};
			return { url, token, kill: () => end("SIGKILL"), stop: () => end("SIGTERM") };
		},
		opened: () => model.openedBy(wallet),
		close: async () => {
			for (const child of children) child.kill("SIGKILL");
			front.closeAllConnections();
			front.close();
			await Promise.all([model.close(), lists.close()]);
		},
	};
}

export type HttpServer = {
	url: string;
	token: string;
	kill: () => Promise<void>;
	stop: () => Promise<void>;
};

/** Returns a budget of 10 USDC in one swap and 25 in a day, to the wallet itself. */
export function makeBudgetFile(changes: object = {}): object {
	return {
		spend: [{ asset: usdc.origin, perSwap: "10", perDay: "25" }],
		routes: [{ from: usdc.origin, to: usdc.destination, worstPrice: "0.9" }],
		recipients: ["self"],
		...changes,
	};
}

async function forward(baseUrl: string, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
	const chunks: Buffer[] = [];
	for await (const chunk of incoming) chunks.push(chunk as Buffer);
	const body = Buffer.concat(chunks);
	const answer = await fetch(`${baseUrl}${incoming.url}`, {
		method: incoming.method ?? "GET",
		headers: { "content-type": "application/json", "x-api-key": String(incoming.headers["x-api-key"]) },
		...(body.length > 0 && { body }),
	});
	response.writeHead(answer.status, { "content-type": "application/json" });
	response.end(await answer.text());
}
