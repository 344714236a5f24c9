import { expect, test } from "vitest";
import type { Config } from "../config/config.ts";
import type { Reading } from "../telemetry/meter.ts";
import { watchPrices } from "./watch-prices.ts";

const [usdc, weth] = [
	"0x00000000000000000000000000000000000000c1",
	"0x00000000000000000000000000000000000000e2",
];

test("an asset counts as live if the desk quotes it, regardless of its feed", async () => {
	const readings: Reading[] = [];
	const asset = (symbol: string, address: string) => ({ symbol, address, decimals: 6, kind: "stable" });
	const assets = [asset("USDC", usdc), asset("WETH", weth)];
	const referencesApartBps = ({ asset }: { asset: string }) => (asset === weth ? 12 : undefined);
	watchPrices({
		meter: { counter: unexpected, histogram: unexpected, reading: (reading) => readings.push(reading) },
		config: { chains: [{ kind: "evm", chainId: 1, deployment: { assets } }] } as unknown as Config,
		priceCache: { ageMs: () => 400, feedUpdatedAtUnixSeconds: () => 990, referencesApartBps },
		desk: {
			isLive: ({ chainId, token }) => chainId === 1 && token === weth,
			stopOf: ({ token }) => (token === weth ? undefined : { reason: "pools-disagree", symbol: "USDC" }),
		},
		nowMs: () => 1_000_000,
	});
	const labels = (token: string) => ({ chain: "1", token });
	const samples = (await readings[0]?.read()) ?? [];
	expect(samples.filter(({ gauge, value }) => gauge === "geoswap_asset_stopped" && value > 0)).toEqual([
		{
			gauge: "geoswap_asset_stopped",
			labels: { ...labels("USDC"), reason: "pools-disagree" },
			value: 1,
		},
	]);
	expect(samples.filter(({ gauge }) => gauge !== "geoswap_asset_stopped")).toEqual([
		{ gauge: "geoswap_price_age_seconds", labels: { chain: "1" }, value: 0.4 },
		{ gauge: "geoswap_asset_live", labels: labels("USDC"), value: 0 },
		{ gauge: "geoswap_feed_age_seconds", labels: labels("USDC"), value: 10 },
		{ gauge: "geoswap_asset_live", labels: labels("WETH"), value: 1 },
		{ gauge: "geoswap_feed_age_seconds", labels: labels("WETH"), value: 10 },
		{ gauge: "geoswap_references_apart_bps", labels: labels("WETH"), value: 12 },
	]);
});

function unexpected(): never {
	throw new Error("unexpected");
}
