"""Submits, claims and completes one execution with the client that openapi-python-client generated."""

import sys

from flow_fabric_client import Client
from flow_fabric_client.api.default import execution_result, execution_submit, lease_claim, lease_complete
from flow_fabric_client.models import Claim, Complete, Submit

client = Client(base_url=sys.argv[1], raise_on_unexpected_status=True)
submitted = execution_submit.sync(client=client, body=Submit(kind="greet", payload={"name": "Ada"}))
claims = lease_claim.sync("py-1", client=client, body=Claim(worker_id="py", kinds=["greet"], wait_ms=5000))
[work] = claims.executions
assert work.execution_id == submitted.execution_id and work.payload == {"name": "Ada"}, work
fence = {"lease_id": work.lease_id, "lease_epoch": work.lease_epoch, "attempt_id": work.attempt_id}
lease_complete.sync(work.execution_id, client=client, body=Complete(**fence, result={"greeting": "hello, Ada"}))
ended = execution_result.sync(submitted.execution_id, client=client)
assert ended.result == {"greeting": "hello, Ada"}, ended
print("checked: the generated Python client")
