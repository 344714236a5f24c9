import type { Milliseconds } from "@geoswap/protocol";
import type { StoredLimits } from "../../api/key/api-key-record.ts";
import { ago } from "../../api/page/format.ts";
import { type Content, html } from "../../api/page/html.ts";
import type { ConsoleConfig } from "../../config/config-problems.ts";
import { type KeyState, keyState } from "../../operate/key/key-state.ts";
import type { AccountKeys } from "../read/read-keys.ts";
import type { Page } from "../route/console-route.ts";
import { pill, section, type Tone, table } from "./parts.ts";

const toneOf: Record<KeyState, Tone> = {
	valid: "good",
	expiring: "warn",
	expired: "quiet",
	revoked: "quiet",
};

/** Returns the page of accounts and their API keys. It changes nothing. */
export function keysPage(
	accounts: readonly AccountKeys[],
	{ config, nowMs }: { config: ConsoleConfig; nowMs: Milliseconds },
): Page {
	const body = html`
		<h1>Keys</h1>
		<p class="subtitle">Accounts and their API keys. To create, limit, rotate or revoke a key, use <code>geoswapd keys</code>.</p>
		${section(
			{ id: "limits", title: "Limits of keys that have none of their own", note: "requests a second" },
			html`<p>${describeLimits({
				rates: config.api.rates,
				heldStatusCalls: config.api.heldStatusCalls,
				maxUsdPerDay: config.limits.maxUsdPerDay,
			})}</p>`,
		)}
		${section(
			{ id: "keys", title: "Accounts and keys" },
			table({
				label: "Accounts and keys",
				columns: [
					{ title: "Account" },
					{ title: "Key" },
					{ title: "State" },
					{ title: "Last used" },
					{ title: "Created" },
					{ title: "Own limits" },
				],
				rows: accounts.flatMap((account) => rowsOf(account, nowMs)),
				none: "There are no accounts: create one with geoswapd accounts create.",
			}),
		)}`;
	return { title: "Keys · Geoswap console", menu: "/keys", body };
}

function rowsOf({ id, name, createdAt, keys }: AccountKeys, nowMs: Milliseconds): Content[][] {
	const account = html`<a href=${`/swaps?account=${id}`}>${name}</a>`;
	if (keys.length === 0) return [[account, "–", pill("no key", "quiet"), "–", ago(createdAt, nowMs), "–"]];
	return keys.map((key) => {
		const state = keyState(key, nowMs);
		return [
			account,
			html`<span class="mono">${key.id}</span>`,
			html`${pill(state, toneOf[state])}${
				key.expiresAt && state !== "revoked"
					? html` <small class="quiet">${ago(key.expiresAt, nowMs)}</small>`
					: null
			}${key.replacedBy ? html` <small class="quiet">replaced by ${key.replacedBy}</small>` : null}`,
			key.lastUsedAt ? ago(key.lastUsedAt, nowMs) : html`<span class="quiet">never</span>`,
			ago(key.createdAt, nowMs),
			describeLimits(key.limits),
		];
	});
}

function describeLimits(limits: unknown): string {
	const { rates = {}, heldStatusCalls, maxUsdPerDay } = limits as StoredLimits;
	const parts = [
		...Object.entries(rates).map(([name, rate]) => `${name} ${rate}`),
		...(heldStatusCalls === undefined ? [] : [`held status calls ${heldStatusCalls}`]),
		...(maxUsdPerDay === undefined ? [] : [`USD in 24 hours ${maxUsdPerDay ?? "unlimited"}`]),
	];
	return parts.length === 0 ? "–" : parts.join(", ");
}
