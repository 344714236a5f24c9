#!/usr/bin/env bash
# Checks a service on two testnets from the outside: the presets against the chains, the configuration, an hour on
# paper, then a swap there and back with real (testnet) tokens. docs/go-live.md says what must be there before.
#
# Usage: docs/go-live/first-testnet-swap.sh [check|shadow|swap|all]
#
# It stops at the first step that fails, and every step can be run again: swaps carry ids, so that a second run resumes
# a swap and never repeats it. Remove $GEOSWAP_HOME to swap anew.
set -euo pipefail

step=${1:-all}
root=$(cd "$(dirname "$0")/../.." && pwd)
geoswapd=(node "$root/apps/server/src/main.ts")
geoswap=(node "$root/packages/cli/src/main.ts")

# Two chains: the preset, its id, and an endpoint. Set a preset to "none" to leave out its check.
preset_a=${PRESET_A:-base-sepolia} chain_a=${CHAIN_A:-84532}
preset_b=${PRESET_B:-arbitrum-sepolia} chain_b=${CHAIN_B:-421614}
token=${TOKEN:-USDC}
amount=${AMOUNT:-1}
shadow_seconds=${SHADOW_SECONDS:-3600}
shadow_per_hour=${SHADOW_PER_HOUR:-120}

need() {
	for name in "$@"; do
		if [ -z "${!name:-}" ]; then
			echo "error: set $name; docs/go-live.md says to what" >&2
			exit 2
		fi
	done
}

say() { printf '\n== %s\n' "$*" >&2; }

check() {
	need RPC_A RPC_B
	for one in "$preset_a $RPC_A" "$preset_b $RPC_B"; do
		read -r preset rpc <<<"$one"
		[ "$preset" = none ] && continue
		say "the preset $preset against its chain"
		"${geoswapd[@]}" chain check "$preset" --rpc "$rpc"
	done
}

shadow() {
	need GEOSWAP_CONFIG
	work=$(mktemp -d)
	say "$shadow_seconds seconds on paper; the journal is $work/shadow.jsonl"
	"${geoswapd[@]}" shadow --config "$GEOSWAP_CONFIG" --generate first --per-hour "$shadow_per_hour" \
		--journal "$work/shadow.jsonl" --report "$work/report.md" >/dev/null &
	shadow_pid=$!
	trap 'kill "$shadow_pid" 2>/dev/null || true' EXIT
	# The day begins with the first prices of both chains. Ended before, it would have nothing to report.
	until [ -e "$work/shadow.jsonl" ]; do
		kill -0 "$shadow_pid"
		sleep 1
	done
	sleep "$shadow_seconds"
	kill -TERM "$shadow_pid"
	wait "$shadow_pid"
	trap - EXIT
	cat "$work/report.md"
}

swap() {
	# The wallet's key and the API key are read from the environment by the command, never from arguments.
	need RPC_A RPC_B API_URL DEPLOYMENT DEPLOYMENT_SHA256 GEOSWAP_HOME GEOSWAP_API_KEY GEOSWAP_EVM_KEY
	say "the service $API_URL, with the pins of $DEPLOYMENT"
	"${geoswap[@]}" init --base-url "$API_URL" --deployment "$DEPLOYMENT" --deployment-sha256 "$DEPLOYMENT_SHA256" \
		--rpc "$chain_a=$RPC_A" --rpc "$chain_b=$RPC_B" --no-keys
	"${geoswap[@]}" balance
	say "$amount $token there"
	"${geoswap[@]}" swap --from "$chain_a:$token" --to "$chain_b:$token" --amount "$amount" \
		--max-spend "$amount" --accept-any-price --id first-swap-there
	say "and back, with half of it"
	back=$(node -p "Number(process.argv[1]) / 2" "$amount")
	"${geoswap[@]}" swap --from "$chain_b:$token" --to "$chain_a:$token" --amount "$back" \
		--max-spend "$back" --accept-any-price --id first-swap-back
	"${geoswap[@]}" balance
	"${geoswap[@]}" history
}

case $step in
check | shadow | swap) "$step" ;;
all)
	check
	shadow
	swap
	;;
*)
	echo "usage: $0 [check|shadow|swap|all]" >&2
	exit 2
	;;
esac
say "done"
