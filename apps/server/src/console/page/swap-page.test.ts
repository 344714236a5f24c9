import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleScene, createConsoleScene } from "../../../test/console/console-scene.ts";
import { render } from "../../api/page/html.ts";
import { createChainNames } from "../../config/chain-names.ts";
import { type Explanation, explainSwap } from "../../operate/swaps/explain-swap.ts";
import { readHistory, type SwapHistory } from "../../operate/swaps/read-history.ts";
import type { Fact } from "../../swap/decide/decision.ts";
import { factWords } from "../../swap/decide/fact-words.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import { swapPage } from "./swap-page.ts";

let scene: ConsoleScene;
let shown: { swap: SwapRecord; explanation: Explanation; history: SwapHistory; accountName: undefined };
const nowMs = Date.now();

beforeAll(async () => {
	scene = await createConsoleScene();
	const [seeded] = await scene.seed({ stories: ["deposited"], atMs: nowMs - 10_000 });
	const { pool } = scene.database;
	const swap = seeded && (await readSwap(pool, seeded.id));
	if (!swap) throw new Error("the swap was seeded");
	const explanation = await explainSwap(pool, swap, { config: scene.config, nowMs });
	shown = { swap, explanation, history: await readHistory(pool, swap), accountName: undefined };
});
afterAll(() => scene?.stop());

function textOf(explanation: Explanation, { isStuck }: { isStuck: boolean }): string {
	const context = { config: scene.config, chainNames: createChainNames(scene.config), nowMs };
	return unescaped(
		render(swapPage({ ...shown, explanation, isStuck }, context).body).replace(/<[^>]+>/g, " "),
	);
}

function unescaped(text: string): string {
	return text
		.replaceAll("&#39;", "'")
		.replaceAll("&quot;", '"')
		.replaceAll("&gt;", ">")
		.replaceAll("&amp;", "&");
}

test.each(Object.keys(factWords) as Fact[])(
	"the page of a swap that is stuck at %s names the cause and a next step",
	(fact) => {
		const { means, todo } = factWords[fact];
		const explanation = { ...shown.explanation, fact, means, todo: todo ? [todo] : [] };
		const text = textOf(explanation, { isStuck: true });
		expect(text).toContain(means);
		expect(text).toMatch(/Next step/);
		if (todo) expect(text).toContain(todo.what);
		if (todo?.command) expect(text).toContain(todo.command);
		expect(text).toContain("geoswapd swaps explain swp_");
		expect(text).not.toContain("Nothing: the service goes on by itself.");
	},
);

test("the page of a swap in progress shows where the money is, what it waits for, and that no action is needed", () => {
	const text = textOf(shown.explanation, { isStuck: false });
	expect(text).toMatch(/Where the money is\s+[\d.]+ USDC\s+in escrow, on/);
	expect(text).toMatch(/It waits for\s+block \d+ of (Base|Arbitrum One|Solana), which is at \d+/);
	expect(text).toContain("Nothing: the service goes on by itself.");
	expect(text).toMatch(/submitted .*opening .*open sent on .*deposited/s);
});

test("every text that a third party can write into a swap is shown as text on the page", () => {
	const [transaction] = shown.history.transactions;
	const evil = '<img src=x onerror="alert(1)">';
	const failure = { code: "PRICE_MOVED" as const, message: evil };
	const swap = { ...shown.explanation.swap, failure };
	const history = { ...shown.history, transactions: transaction ? [{ ...transaction, hash: evil }] : [] };
	const context = { config: scene.config, chainNames: createChainNames(scene.config), nowMs };
	const explanation = { ...shown.explanation, swap };
	const { body } = swapPage({ ...shown, explanation, history, isStuck: false }, context);
	expect(render(body)).not.toContain("<img");
	expect(render(body)).toContain("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;");
});
