import { addCctp, startTestChains } from "@geoswap/devnet";
import { expect, onTestFinished, test } from "vitest";
import { testConfig } from "../../../test/desk/test-prices.ts";
import type { Config } from "../../config/config.ts";
import { checkTreasury, judgePolicy } from "./check-treasury.ts";

const treasurer = "0x7777777777777777777777777777777777777777";

test("a policy whose largest move cannot pay for itself fails, without targets it warns, and no route needs no check", async () => {
	const chains = await startTestChains();
	onTestFinished(() => chains.stop());
	const plain = testConfig(chains);
	expect(await checkTreasury(plain)).toEqual([]);
	const added = await addCctp([chains.origin, chains.destination], { treasurer, capPerHour: 1n });
	const withTarget = (inventoryTargetUsd?: number): Config => ({
		...plain,
		chains: plain.chains.map((chain) => {
			const cctp = added.find((one) => one.chain.chainId === chain.chainId);
			if (chain.kind === "solana" || !cctp) throw new Error("the test has two EVM chains");
			const { domain, tokenMessenger, messageTransmitter, routes } = cctp;
			const deployed = { domain, tokenMessenger, messageTransmitter, routes: Object.fromEntries(routes) };
			return {
				...chain,
				...(inventoryTargetUsd !== undefined && { inventoryTargetUsd }),
				deployment: { ...chain.deployment, cctp: deployed },
			};
		}),
	});
	expect(await checkTreasury(withTarget(1_000_000))).toEqual([
		{
			part: "treasury.policy",
			result: "ok",
			message: "the largest move pays for itself on every route at present fees",
		},
	]);
	expect(await checkTreasury(withTarget(0))).toMatchObject([{ result: "fail" }, { result: "fail" }]);
	expect(await checkTreasury(withTarget())).toMatchObject([{ result: "warn" }, { result: "warn" }]);

	// Burn and mint at 2 USD each: twice 4 USD over 12.5 bps, and a little for the wait.
	const twoUsd = () => 2n * 10n ** 18n;
	expect(judgePolicy(withTarget(10_000), twoUsd)).toMatchObject([
		{ result: "fail", message: expect.stringMatching(/from 64\d\d\.\d\d USD on.*at most 6000\.00 USD/) },
		{ result: "fail" },
	]);
	expect(judgePolicy(withTarget(11_000), twoUsd)).toMatchObject({ result: "ok" });
});
