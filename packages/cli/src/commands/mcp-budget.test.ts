import { afterAll, expect, test } from "vitest";
import { approving, connectClient } from "../../test/mcp-clients.ts";
import { makeBudgetFile, startMcpWorld, usdc } from "../../test/mcp-world.ts";

const spend = [{ asset: usdc.origin, perSwap: "10", perDay: "10" }];
const world = await startMcpWorld(makeBudgetFile({ spend }));
afterAll(() => world.close());

test("a swap that was refunded gives its share of the day back, once nothing that was signed can execute", async () => {
	// A caller trusts such an end of a swap only once its op cannot be opened any more.
	Object.assign(world.model.knobs, { endsAs: "refunded", settleMs: 0, opMs: 6_000, openMs: 6_000 });
	const http = await world.startHttp();
	const client = await connectClient(http, { revision: "2026", user: approving });
	const swap = (id: string) =>
		client.call("swap", { id, from: usdc.origin, to: usdc.destination, amount: "10" });
	const left = async () => {
		const { data } = await client.call("get_budget", {});
		return (data.spend as { left: string }[]).map(({ left }) => left);
	};
	expect(await left()).toEqual(["10 USDC"]);
	expect((await swap("one")).data).toMatchObject({ id: "one", mayExecute: true });
	expect(await left()).toEqual(["0 USDC"]);
	expect((await swap("two")).data).toMatchObject({
		status: "not_swapped",
		error: {
			code: "BUDGET_REFUSED",
			limit: "perDay",
			requested: "10 USDC",
			allowed: "10 USDC",
			used: "10 USDC",
			usedUnits: "10000000",
		},
	});
	await expect.poll(left).toEqual(["10 USDC"]);
	expect((await client.call("get_swap", { id: "one" })).data).toMatchObject({
		status: "refunded",
		mayExecute: false,
		funds: { holder: "wallet" },
	});
	await client.close();
	await http.stop();
});
