import type { Milliseconds, Seconds } from "@geoswap/protocol";
import { type Content, html } from "./html.ts";

/** Formats a duration in at most two units. */
export function duration(seconds: Seconds): string {
	const whole = Math.max(0, seconds);
	if (whole < 10) return `${whole.toFixed(1)} s`;
	if (whole < 90) return `${Math.round(whole)} s`;
	const minutes = Math.round(whole / 60);
	if (minutes < 90) return `${minutes} min`;
	const hours = whole / 3_600;
	if (hours < 48) return `${hours.toFixed(hours < 10 ? 1 : 0)} h`;
	return `${Math.round(hours / 24)} days`;
}

/** Shows a moment as the time since then, with the exact time as a title. */
export function ago(at: Date, nowMs: Milliseconds): Content {
	const seconds = (nowMs - at.getTime()) / 1_000;
	const text = seconds < 0 ? `in ${duration(-seconds)}` : `${duration(Math.round(seconds))} ago`;
	return html`<time datetime=${at.toISOString()} title=${at.toISOString()}>${text.replace(".0 s", " s")}</time>`;
}

/** Shows a moment in UTC, to the second. */
export function moment(at: Date): Content {
	const [day = "", time = ""] = at.toISOString().split("T");
	return html`<time datetime=${at.toISOString()} title=${at.toISOString()}>${day} ${time.slice(0, 8)}</time>`;
}

/** Formats a number with thin groups of digits. */
export function count(value: number | bigint): string {
	return value.toLocaleString("en-US");
}

export function usd(cents: number | bigint): string {
	const value = Number(cents) / 100;
	return value.toLocaleString("en-US", {
		style: "currency",
		currency: "USD",
		maximumFractionDigits: Math.abs(value) >= 10_000 ? 0 : 2,
	});
}

/**
 * Formats a decimal number for reading, with groups of digits and at most `most` decimals. For a number below one,
 * three digits after its zeros are kept in any case.
 */
export function decimal(text: string, most = 6): string {
	const [whole = "0", fraction = ""] = text.split(".");
	const least = whole === "0" ? fraction.search(/[1-9]/) + 3 : 0;
	const kept = fraction.slice(0, Math.max(most, least)).replace(/0+$/, "");
	return `${BigInt(whole).toLocaleString("en-US")}${kept === "" ? "" : `.${kept}`}`;
}

/** Shortens an id, a hash or an address to its beginning and end. */
export function short(text: string, keep = 6): string {
	return text.length <= 2 * keep + 1 ? text : `${text.slice(0, keep)}…${text.slice(-keep + 2)}`;
}

export function plural(number: number, one: string, many = `${one}s`): string {
	return `${count(number)} ${number === 1 ? one : many}`;
}
