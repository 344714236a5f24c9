import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect as connectTo, createServer, type Socket } from "node:net";
import { startTestChains } from "@geoswap/devnet";
import { expect, onTestFinished, test } from "vitest";
import { watchHeads } from "./watch-heads.ts";

test("a subscription reports new blocks, also after its connection broke, and reports nothing while it is broken or behind", async () => {
	const chains = await startTestChains();
	onTestFinished(() => chains.stop());
	const { origin } = chains;
	const { hostname, port } = new URL(origin.rpcUrl);
	const sockets = new Set<Socket>();
	let isOpen = true;
	const proxy = createServer((socket) => {
		if (!isOpen) return socket.destroy();
		const upstream = connectTo(Number(port), hostname);
		sockets.add(socket);
		socket.on("error", () => {}).on("close", () => upstream.destroy());
		upstream.on("error", () => socket.destroy());
		socket.pipe(upstream).pipe(socket);
	}).listen(0, "127.0.0.1");
	await once(proxy, "listening");
	const stopping = new AbortController();
	onTestFinished(() => {
		stopping.abort();
		for (const socket of sockets) socket.destroy();
		proxy.close();
	});
	const url = `ws://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
	let seen = 0;
	const { told } = watchHeads({
		urls: [url, "ws://127.0.0.1:9"],
		seen: () => seen,
		signal: stopping.signal,
	});
	const mineUntilTold = () =>
		expect
			.poll(
				async () => {
					await origin.testClient.mine({ blocks: 1 });
					await new Promise((resolve) => setTimeout(resolve, 20));
					return told() === Number(await origin.publicClient.getBlockNumber());
				},
				{ timeout: 30_000 },
			)
			.toBe(true);
	expect(told()).toBeUndefined();
	await mineUntilTold();
	// A reader that is ahead of the subscription polls.
	seen = Number(await origin.publicClient.getBlockNumber()) + 1;
	expect(told()).toBeUndefined();
	seen = 0;
	isOpen = false;
	for (const socket of sockets) socket.destroy();
	await expect.poll(told, { timeout: 10_000 }).toBeUndefined();
	isOpen = true;
	await mineUntilTold();
});
