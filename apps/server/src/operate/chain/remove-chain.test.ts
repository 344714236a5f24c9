import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestChains } from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { removeChain } from "./remove-chain.ts";

const folder = mkdtempSync(join(tmpdir(), "geoswap-chain-remove-"));
const configPath = join(folder, "geoswap.json");
const chainId = 31_338;
const pace = { finalitySeconds: 5, openSeconds: 75, fillSeconds: 45, refundSeconds: 30 };
const nodes = [{ url: "http://127.0.0.1:9" }];
beforeAll(async () => {
	const { deployment, stop } = await startTestChains();
	await stop();
	writeFileSync(join(folder, "deployment.json"), formatDeployment(deployment));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(more: object = {}): void {
	writeFileSync(
		configPath,
		JSON.stringify({
			deployment: "deployment.json",
			chains: { 31337: { nodes, ...pace }, 31338: { nodes, ...pace } },
			api: { port: 0 },
			worker: { port: 0 },
			restate: { ingressUrl: "http://a:1", adminUrl: "http://a:2" },
			attesters: [{ url: "http://a:3" }, { url: "http://a:4" }],
			...more,
		}),
	);
}
const written = () => JSON.parse(readFileSync(configPath, "utf8")).chains;
const startMs = Date.UTC(2026, 10, 16);
function remove({ afterSeconds = 0, open = 0, isDryRun = false } = {}) {
	return removeChain({
		configPath,
		chainId,
		countOpen: async () => open,
		readInventory: async () => ["1000 USDC"],
		isDryRun,
		nowMs: startMs + afterSeconds * 1_000,
	});
}

test("a chain is drained, waits for its last order and its last swap, and only then leaves the configuration", async () => {
	write();
	expect(await remove({ isDryRun: true })).toMatchObject({ state: "would do" });
	expect(written()[chainId]).not.toHaveProperty("onlyAccounts");

	expect(await remove()).toMatchObject({
		state: "waiting",
		lines: [expect.anything(), expect.stringContaining("255 s")],
	});
	expect(written()[chainId].onlyAccounts).toEqual([]);
	// Nothing has counted the open swaps yet, so an earlier order could still be opened.
	expect(await remove({ afterSeconds: 254 })).toMatchObject({
		state: "waiting",
		lines: [expect.stringContaining("run again in 1 s")],
	});
	expect(await remove({ afterSeconds: 255, open: 2 })).toMatchObject({
		state: "waiting",
		lines: [expect.stringContaining("2 swaps")],
	});
	expect(await remove({ afterSeconds: 255, isDryRun: true })).toMatchObject({ state: "would do" });
	expect(written()).toHaveProperty(String(chainId));

	const removed = await remove({ afterSeconds: 255 });
	expect(removed.state).toBe("removed");
	expect(removed.lines.join("\n")).toMatch(/holds 1000 USDC; a member of TREASURY takes it out/);
	expect(Object.keys(written())).toEqual(["31337"]);
	expect(existsSync(join(folder, "chains", `${chainId}.draining`))).toBe(false);
	expect((await remove()).state).toBe("removed already");
});

test("a chain that another part of the configuration needs is not drained", async () => {
	write({ feeDiscount: { chainId, tiers: [{ name: "a", minimum: "1", discountPercent: 1 }] } });
	await expect(remove()).rejects.toThrow("feeDiscount.chainId: chain 31338 is not configured");
	expect(written()[chainId]).not.toHaveProperty("onlyAccounts");
});
