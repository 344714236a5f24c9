import { afterAll, expect, test, vi } from "vitest";
import { recipient, startFakeService, swapId } from "../test/fake-service.ts";
import { initArgs, makeHome, runCli } from "../test/run-cli.ts";

const owner = vi.hoisted(() => ({ onAsked: () => {} }));
// The keychain is locked, and its owner is not present to unlock it.
vi.mock("@napi-rs/keyring", () => ({
	AsyncEntry: class {
		getPassword() {
			owner.onAsked();
			return new Promise(() => {});
		}
	},
}));

const service = await startFakeService();
afterAll(() => service.close());
const { env, deployment } = makeHome();
await runCli(initArgs(service.baseUrl, deployment), { env });
const terms = ["--from", "31337:USDC", "--to", "31338:USDC", "--amount", "10", "--recipient", recipient];

test.each([
	["GEOSWAP_API_KEY", ["swap", ...terms], 3],
	["GEOSWAP_EVM_KEY", ["swap", ...terms], 3],
	["GEOSWAP_API_KEY", ["swap", ...terms, "--dry-run"], 3],
	["GEOSWAP_API_KEY", ["status", swapId], 5],
	["GEOSWAP_API_KEY", ["history"], 3],
])(
	"without %s, Ctrl-C while the keychain is locked ends %j",
	async (name, args, exit) => {
		const controller = new AbortController();
		owner.onAsked = () => setTimeout(() => controller.abort(), 20);
		const result = await runCli([...args, "--json"], {
			env: { ...env, [name]: "" },
			interrupt: controller.signal,
		});
		expect(result.exit).toBe(exit);
		expect(JSON.parse(result.stdout)).toMatchObject({ error: { code: "INTERRUPTED" } });
	},
	5_000,
);
