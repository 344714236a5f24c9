import { toSwapId } from "@geoswap/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleScene, createConsoleScene } from "../../test/console/console-scene.ts";
import type { SeededSwap } from "../../test/console/seed-swaps.ts";

let scene: ConsoleScene;
let swaps: SeededSwap[];
let cookie: string;

beforeAll(async () => {
	scene = await createConsoleScene({ isDevnet: true });
	swaps = await scene.seed({
		stories: ["settled", "settled", "refunded", "failed", "deposited", "delivering", "delivered"],
		atMs: Date.now() - 3_600_000,
	});
	await scene.moveChains();
	cookie = await logIn();
});
afterAll(() => scene?.stop());

const host = "localhost:9090";
const get = (url: string, headers: Record<string, string> = {}) =>
	scene.app.inject({ method: "GET", url, headers: { host, ...headers } });

async function logIn(): Promise<string> {
	const response = await get(`/invite?token=${await scene.invite("ada")}`);
	expect(response.statusCode).toBe(303);
	return String(response.headers["set-cookie"]).split(";")[0] ?? "";
}

test("the overview and every swap's page open", async () => {
	const overview = await get("/", { cookie });
	expect(overview.statusCode, overview.body).toBe(200);
	const list = await get("/swaps", { cookie });
	expect(list.statusCode, list.body).toBe(200);
	for (const { id, story } of swaps) {
		const { statusCode, body } = await get(`/swaps/${toSwapId(id)}`, { cookie });
		expect(statusCode, body).toBe(200);
		if (process.env.SHOW)
			console.log(
				story,
				body
					.replace(/<[^>]+>/g, " ")
					.replace(/\s+/g, " ")
					.slice(0, 900),
			);
	}
	if (process.env.SHOW)
		console.log(
			overview.body
				.replace(/<[^>]+>/g, " ")
				.replace(/\s+/g, " ")
				.slice(0, 3000),
		);
});
