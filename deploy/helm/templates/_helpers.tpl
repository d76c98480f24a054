{{- define "weir.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "weir.selector" -}}
app.kubernetes.io/name: weir
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "weir.labels" -}}
{{ include "weir.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- /* The ports of a Service. The Service for load balancing and the one that names each server have the same ports. */ -}}
{{- define "weir.servicePorts" -}}
- name: http
  port: {{ .Values.ports.platform }}
  targetPort: http
{{- if ne (int .Values.ports.deployment) 0 }}
- name: http-deployment
  port: {{ .Values.ports.deployment }}
  targetPort: http-deployment
{{- end }}
{{- if ne (toString .Values.ports.otlpGrpc) "off" }}
- name: grpc-otlp
  port: {{ .Values.ports.otlpGrpc }}
  targetPort: grpc-otlp
  appProtocol: kubernetes.io/h2c
{{- end }}
{{- end -}}

{{- /* Scales down slowly, because the runs of a stopped server move to other servers. */ -}}
{{- define "weir.scaling" -}}
scaleDown:
  stabilizationWindowSeconds: 600
  policies:
    - type: Pods
      value: 1
      periodSeconds: 300
{{- end -}}
