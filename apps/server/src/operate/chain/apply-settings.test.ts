import { expect, test } from "vitest";
import { applySettings, expectEvm } from "./apply-settings.ts";
import { readPreset } from "./read-presets.ts";

const bnb = expectEvm(readPreset("bnb"));
const apply = (settings: string[], without: string[] = []) => applySettings(bnb, { settings, without });

test("an operator's value replaces the preset's, with the operator as its source", () => {
	const preset = apply([
		"feeds.USDC/USD.heartbeatSeconds=86400",
		"terms.finalitySeconds=20",
		"venue=pancakeswap-v3",
	]);
	expect(preset.feeds.find(({ pair }) => pair === "USDC/USD")?.heartbeatSeconds).toEqual({
		value: 86_400,
		sources: ["operator"],
		oneSource: true,
	});
	expect(preset.sources.operator).toBe("given by the operator with --set");
	expect(preset.terms.finalitySeconds).toEqual({ value: 20, reason: "Given by the operator with --set." });
	expect(preset.venue).toBe("pancakeswap-v3");
	expect(apply(["tokens.USDT.symbol=USD₮0"]).tokens.map(({ symbol }) => symbol)).toContain("USD₮0");
	expect(bnb.terms.finalitySeconds.value).toBe(15);
});

test("a token, a feed or a venue can be left out, unless something else needs it", () => {
	expect(apply([], ["USDT", "SOL/USD", "pancakeswap-v3"])).toMatchObject({
		tokens: [{ symbol: "USDC" }, { symbol: "ETH" }, { symbol: "BTCB" }],
		venues: { "uniswap-v3": {} },
	});
	expect(() => apply([], ["USDC"])).toThrow("settlementToken: there is no token USDC");
	expect(() => apply([], ["USDC/USD"])).toThrow("feeds: there is no USDC/USD");
	expect(() => apply([], ["uniswap-v3"])).toThrow("venue: there is no venue uniswap-v3");
	expect(() => apply([], ["DAI"])).toThrow("the preset has no token, feed or venue DAI");
});

test.each([
	["terms.finalitySeconds", '"terms.finalitySeconds" is not path=value'],
	["terms.finality=20", "the preset has no terms.finality"],
	["terms.finalitySeconds=soon", "expected number, received string"],
	["tokens.USDC.address=0x8ac76a51cc950d9822d68b83fe1ad97b32cd580e", "its checksum is wrong"],
])("the setting %s is refused", (setting, problem) => {
	expect(() => apply([setting])).toThrow(problem);
});

test("Solana's preset is not accepted for an EVM chain", () => {
	expect(() => expectEvm(readPreset("solana"))).toThrow("docs/add-a-chain.md");
});
