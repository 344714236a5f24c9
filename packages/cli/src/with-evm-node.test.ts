import { afterAll, expect, test } from "vitest";
import { pins, startFakeService } from "../test/fake-service.ts";
import { pinnedChains } from "./pinned-assets.ts";
import { openEvmNode } from "./with-evm-node.ts";

const service = await startFakeService();
afterAll(() => service.close());

test("a node that is opened for many calls is queried once for its chain id", async () => {
	const chain = pinnedChains(pins).find(({ chainId }) => chainId === 31337);
	if (!chain) throw new Error("no chain");
	const node = await openEvmNode({ rpc: { 31337: `${service.baseUrl}/rpc` } }, chain);
	for (let i = 0; i < 3; i++) await node((client) => client.getBlockNumber({ cacheTime: 0 }));
	const methods = service.seen.map(({ body }) => JSON.parse(body).method);
	expect(methods).toEqual(["eth_chainId", ...Array(3).fill("eth_blockNumber")]);
});
